"""Read a Zstandard frame (RFC 8878) without a dictionary: what a run file needs of it."""
MAX_WINDOW = 64 << 20


class Broken(ValueError):
    """The frame cannot be read."""


def ranges(first, bits):
    """Return for each code the first of its values and the number of bits that follow."""
    list_ = []
    for n in bits:
        list_.append((first, n))
        first += 1 << n
    return list_

LITERAL_LENGTHS = ranges(0, [0] * 16 + [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])
MATCH_LENGTHS = ranges(3, [0] * 32 + [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])
DEFAULT_LITERALS = [4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1]
DEFAULT_MATCHES = [1, 4, 3, 2, 2, 2, 2, 2, 2] + [1] * 37 + [-1] * 7
DEFAULT_OFFSETS = [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1]


class Backward:
    """Bits read from the end of a byte string towards its beginning."""

    def __init__(self, data):
        if not data or not data[-1]:
            raise Broken("its Zstandard frame has a bit stream without an end")
        self.bits = int.from_bytes(data, "little")
        self.left = self.bits.bit_length() - 1

    def read(self, n):
        self.left -= n
        if self.left >= 0:
            return self.bits >> self.left & (1 << n) - 1
        return self.bits << -self.left & (1 << n) - 1  # zeros stand before the beginning


def fse_table(counts, accuracy):
    """Return for each state its symbol, number of bits and base."""
    size = 1 << accuracy
    symbols, high = [0] * size, size - 1
    for symbol, count in enumerate(counts):
        if count == -1:
            symbols[high] = symbol
            high -= 1
    at, step = 0, (size >> 1) + (size >> 3) + 3
    for symbol, count in enumerate(counts):
        for _ in range(max(0, count)):
            symbols[at] = symbol
            at = at + step & size - 1
            while at > high:
                at = at + step & size - 1
    seen, table = [1 if c == -1 else c for c in counts], []
    for symbol in symbols:
        state = seen[symbol]
        seen[symbol] += 1
        bits = accuracy - state.bit_length() + 1
        table.append((symbol, bits, (state << bits) - size))
    return table


def read_fse(data, at, most):
    """Read the description of an FSE table. Return the table, its accuracy and the next byte."""
    bits, place = int.from_bytes(data[at:at + 300], "little"), 4
    accuracy = (bits & 15) + 5
    if accuracy > most:
        raise Broken("its Zstandard frame has an FSE table that is too large")
    left, counts = (1 << accuracy) + 1, []
    while left > 1 and len(counts) < 256:
        width = left.bit_length()
        value, low = bits >> place & (1 << width) - 1, (1 << width) - 1 - left
        if value & (1 << width - 1) - 1 < low:
            value &= (1 << width - 1) - 1
            place += width - 1
        else:
            if value >= 1 << width - 1:
                value -= low
            place += width
        counts.append(value - 1)
        left -= abs(value - 1)
        while value == 1:
            again = bits >> place & 3
            place += 2
            counts += [0] * again
            if again < 3:
                break
    if left != 1 or len(counts) > 256:
        raise Broken("its Zstandard frame has a broken FSE table")
    return fse_table(counts, accuracy), accuracy, at + (place + 7) // 8


def read_huffman(data, at):
    """Read a Huffman table. Return for each prefix its symbol and length, the width, and the next byte."""
    head, at = data[at], at + 1
    if head >= 128:
        n = head - 127
        weights = [data[at + i // 2] >> (0 if i % 2 else 4) & 15 for i in range(n)]
        at += (n + 1) // 2
    else:
        table, accuracy, start = read_fse(data[:at + head], at, 6)
        stream, weights = Backward(data[start:at + head]), []
        states = [stream.read(accuracy), stream.read(accuracy)]
        turn = 0
        while True:
            symbol, bits, base = table[states[turn]]
            weights.append(symbol)
            if stream.left < bits:
                weights.append(table[states[1 - turn]][0])
                break
            states[turn] = base + stream.read(bits)
            turn = 1 - turn
        at += head
    total = sum(1 << w - 1 for w in weights if w)
    width = total.bit_length()
    rest = (1 << width) - total
    if not total or rest & rest - 1:
        raise Broken("its Zstandard frame has a broken Huffman table")
    weights.append(rest.bit_length())
    prefixes = []
    for w in range(1, width + 1):
        for symbol, weight in enumerate(weights):
            if weight == w:
                prefixes += [(symbol, width + 1 - w)] * (1 << w - 1)
    return prefixes, width, at


def huffman(data, table, size):
    prefixes, width = table
    stream, out, mask = Backward(data), bytearray(), (1 << width) - 1
    bits, left = stream.bits << width, stream.left  # padded, so that a read never ends early
    for _ in range(size):
        symbol, n = prefixes[bits >> left & mask]
        out.append(symbol)
        left -= n
        if left < 0:
            break
    if left != 0:
        raise Broken("its Zstandard frame has a broken literal stream")
    return out


class Block:
    """What one block leaves to the next: tables and recent offsets."""

    def __init__(self):
        self.huffman, self.tables, self.recent = None, [None] * 3, [1, 4, 8]

    def literals(self, data):
        kind, form = data[0] & 3, data[0] >> 2 & 3
        if kind < 2:
            width = {0: 1, 2: 1, 1: 2, 3: 3}[form]
            size = int.from_bytes(data[:width], "little") >> (3 if width == 1 else 4)
            if kind == 0:
                return data[width:width + size], width + size
            return data[width:width + 1] * size, width + 1
        width, bits = ((3, 10), (3, 10), (4, 14), (5, 18))[form]
        head = int.from_bytes(data[:width], "little") >> 4
        size, packed = head & (1 << bits) - 1, head >> bits
        end, at = width + packed, width
        if kind == 2:
            prefixes, length, at = read_huffman(data[:end], at)
            self.huffman = prefixes, length
        if self.huffman is None:
            raise Broken("its Zstandard frame has literals without a table")
        if form == 0:
            return huffman(data[at:end], self.huffman, size), end
        jumps = [int.from_bytes(data[at + 2 * i:at + 2 * i + 2], "little") for i in range(3)]
        at, out, each = at + 6, bytearray(), (size + 3) // 4
        for i in range(4):
            stop = at + jumps[i] if i < 3 else end
            out += huffman(data[at:stop], self.huffman, each if i < 3 else size - 3 * each)
            at = stop
        return out, end

    def read_tables(self, data, at):
        modes = data[at]
        at += 1
        for i, (shift, default, accuracy, most) in enumerate((
                (6, DEFAULT_LITERALS, 6, 9), (4, DEFAULT_OFFSETS, 5, 8), (2, DEFAULT_MATCHES, 6, 9))):
            mode = modes >> shift & 3
            if mode == 0:
                self.tables[i] = fse_table(default, accuracy), accuracy
            elif mode == 1:
                self.tables[i] = [(data[at], 0, 0)], 0
                at += 1
            elif mode == 2:
                table, width, at = read_fse(data, at, most)
                self.tables[i] = table, width
            elif self.tables[i] is None:
                raise Broken("its Zstandard frame repeats a table that there is not")
        return at

    def offset(self, code, value, literals):
        offset = (1 << code) + value
        recent = self.recent
        if offset > 3:
            offset -= 3
            self.recent = [offset, recent[0], recent[1]]
            return offset
        which = offset - 1 + (literals == 0)
        offset = recent[0] - 1 if which == 3 else recent[which]
        self.recent = [offset] + [r for i, r in enumerate(recent) if i != which][:2]
        return offset

    def decode(self, data, out):
        literals, at = self.literals(data)
        count, at = data[at], at + 1
        if count == 255:
            count, at = int.from_bytes(data[at:at + 2], "little") + 0x7F00, at + 2
        elif count >= 128:
            count, at = (count - 128 << 8) + data[at], at + 1
        used = 0
        if count:
            at = self.read_tables(data, at)
            stream = Backward(data[at:])
            (lt, lw), (ot, ow), (mt, mw) = self.tables
            ls, os, ms = stream.read(lw), stream.read(ow), stream.read(mw)
            for n in range(count):
                code = ot[os][0]
                value = stream.read(code)
                base, bits = MATCH_LENGTHS[mt[ms][0]]
                match = base + stream.read(bits)
                base, bits = LITERAL_LENGTHS[lt[ls][0]]
                plain = base + stream.read(bits)
                offset = self.offset(code, value, plain)
                out += literals[used:used + plain]
                used += plain
                if not 0 < offset <= len(out):
                    raise Broken("its Zstandard frame copies from before its beginning")
                start = len(out) - offset
                piece = out[start:start + match]
                out += (piece * (match // len(piece) + 1))[:match]
                if n < count - 1:
                    ls = lt[ls][2] + stream.read(lt[ls][1])
                    ms = mt[ms][2] + stream.read(mt[ms][1])
                    os = ot[os][2] + stream.read(ot[os][1])
            if stream.left != 0:
                raise Broken("its Zstandard frame has a broken sequence stream")
        out += literals[used:]


def decode(data):
    """Return the content of exactly one frame."""
    if data[:4] != b"\x28\xb5\x2f\xfd":
        raise Broken("it does not hold one Zstandard frame")
    flags = data[4]
    single, size_flag = flags >> 5 & 1, flags >> 6
    at = 5
    if not single:
        exponent, mantissa = data[5] >> 3, data[5] & 7
        window, at = (1 << 10 + exponent) // 8 * (8 + mantissa), 6
        if window > MAX_WINDOW:
            raise Broken("its Zstandard frame needs too large a window")
    if flags & 3 or flags & 8:
        raise Broken("its Zstandard frame needs a dictionary")
    width = (single, 2, 4, 8)[size_flag]
    size = int.from_bytes(data[at:at + width], "little") + (256 if width == 2 else 0) if width else None
    at, out, block = at + width, bytearray(), Block()
    last = False
    while not last:
        head = int.from_bytes(data[at:at + 3], "little")
        last, kind, length = head & 1, head >> 1 & 3, head >> 3
        if at + 3 > len(data) or kind == 3 or kind == 1 and length == 0:
            raise Broken("its Zstandard frame has a broken block")
        at += 3
        body = data[at:at + (1 if kind == 1 else length)]
        at += len(body)
        if kind == 2:
            block.decode(body, out)
        else:
            out += body * length if kind == 1 else body
    if flags & 4:
        at += 4  # The checksum of the frame: the last line of the file says more.
    if at != len(data) or size is not None and size != len(out):
        raise Broken("there are bytes after the end of its Zstandard frame, or it is cut short")
    return bytes(out)

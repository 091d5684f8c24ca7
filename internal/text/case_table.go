package text

// upperFull maps characters to an upper case of more than one character: the unconditional
// entries of Unicode's SpecialCasing.txt.
var upperFull = func() map[rune]string {
	m := map[rune]string{
		0x00DF: "SS",
		0x0149: "\u02BCN",
		0x01F0: "J\u030C",
		0x0390: "\u0399\u0308\u0301",
		0x03B0: "\u03A5\u0308\u0301",
		0x0587: "\u0535\u0552",
		0x1E96: "H\u0331",
		0x1E97: "T\u0308",
		0x1E98: "W\u030A",
		0x1E99: "Y\u030A",
		0x1E9A: "A\u02BE",
		0x1F50: "\u03A5\u0313",
		0x1F52: "\u03A5\u0313\u0300",
		0x1F54: "\u03A5\u0313\u0301",
		0x1F56: "\u03A5\u0313\u0342",
		0x1FB2: "\u1FBA\u0399",
		0x1FB3: "\u0391\u0399",
		0x1FB4: "\u0386\u0399",
		0x1FB6: "\u0391\u0342",
		0x1FB7: "\u0391\u0342\u0399",
		0x1FBC: "\u0391\u0399",
		0x1FC2: "\u1FCA\u0399",
		0x1FC3: "\u0397\u0399",
		0x1FC4: "\u0389\u0399",
		0x1FC6: "\u0397\u0342",
		0x1FC7: "\u0397\u0342\u0399",
		0x1FCC: "\u0397\u0399",
		0x1FD2: "\u0399\u0308\u0300",
		0x1FD3: "\u0399\u0308\u0301",
		0x1FD6: "\u0399\u0342",
		0x1FD7: "\u0399\u0308\u0342",
		0x1FE2: "\u03A5\u0308\u0300",
		0x1FE3: "\u03A5\u0308\u0301",
		0x1FE4: "\u03A1\u0313",
		0x1FE6: "\u03A5\u0342",
		0x1FE7: "\u03A5\u0308\u0342",
		0x1FF2: "\u1FFA\u0399",
		0x1FF3: "\u03A9\u0399",
		0x1FF4: "\u038F\u0399",
		0x1FF6: "\u03A9\u0342",
		0x1FF7: "\u03A9\u0342\u0399",
		0x1FFC: "\u03A9\u0399",
		0xFB00: "FF",
		0xFB01: "FI",
		0xFB02: "FL",
		0xFB03: "FFI",
		0xFB04: "FFL",
		0xFB05: "ST",
		0xFB06: "ST",
		0xFB13: "\u0544\u0546",
		0xFB14: "\u0544\u0535",
		0xFB15: "\u0544\u053B",
		0xFB16: "\u054E\u0546",
		0xFB17: "\u0544\u053D",
	}
	// The Greek letters with an iota below stand in runs of sixteen, of which both halves
	// have the same eight capitals.
	for run, capital := range []rune{0x1F08, 0x1F28, 0x1F68} {
		for i := range rune(16) {
			m[0x1F80+16*rune(run)+i] = string([]rune{capital + i%8, 0x0399})
		}
	}
	return m
}()

// The search of the documentation. Its index is a script that is loaded on the first search, so
// that the search also works for pages opened from a disk.
(() => {
  "use strict";
  const form = document.getElementById("docsearch");
  const field = document.getElementById("docsquery");
  const list = document.getElementById("docsfound");
  const index = document.getElementById("docsindex").href;
  const menu = document.querySelector(".docsmenu details");
  if (matchMedia("(max-width: 760px)").matches) menu.open = false;
  form.hidden = false;

  let loaded;
  const load = () => loaded ||= new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = index;
    script.onload = done;
    script.onerror = fail;
    document.head.append(script);
  });

  // A part matches if it has every word. Words in titles count more than words in texts.
  const find = (words) => {
    const found = [];
    for (const entry of window.deemPages) {
      const title = `${entry.title} ${entry.part || ""}`.toLowerCase();
      const text = entry.text.toLowerCase();
      let worth = 0;
      for (const word of words) {
        const inTitle = title.includes(word), inText = text.includes(word);
        if (!inTitle && !inText) { worth = 0; break; }
        worth += inTitle ? 10 : 1;
      }
      if (worth) found.push({ entry, worth });
    }
    return found.sort((a, b) => b.worth - a.worth).slice(0, 20).map((f) => f.entry);
  };

  const excerpt = (text, word) => {
    const at = Math.max(0, text.toLowerCase().indexOf(word) - 60);
    return (at ? "… " : "") + text.slice(at, at + 180) + (at + 180 < text.length ? " …" : "");
  };

  const show = (entries, words) => {
    list.replaceChildren();
    const head = document.createElement("p");
    head.textContent = entries.length ? `${entries.length}${entries.length === 20 ? " or more" : ""} found` : `Nothing has all of: ${words.join(", ")}`;
    const rows = document.createElement("ol");
    for (const entry of entries) {
      const row = document.createElement("li"), link = document.createElement("a"), text = document.createElement("p");
      link.href = new URL(entry.page + (entry.hash ? "#" + entry.hash : ""), new URL(".", index)).href;
      link.textContent = entry.title + (entry.part ? " – " + entry.part : "");
      text.textContent = excerpt(entry.text, words[0]);
      row.append(link, text);
      rows.append(row);
    }
    list.append(head, rows);
    list.hidden = false;
  };

  const search = async () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) { list.hidden = true; return; }
    try {
      await load();
      show(find(words), words);
    } catch {
      list.textContent = "The search index cannot be loaded.";
      list.hidden = false;
    }
  };
  field.addEventListener("input", search);
  form.addEventListener("submit", (event) => { event.preventDefault(); search(); });
})();

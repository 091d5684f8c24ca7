// Keys for labelling: y or 1, n or 2, or the number of a label, s and u press the button
// that says so; e goes to the
// note and Escape leaves it; ? opens the help. The buttons are those of a plain form.
(() => {
  "use strict";
  const form = document.getElementById("label");
  const help = document.getElementById("help");
  const note = document.getElementById("note");
  const alias = { 1: "y", 2: "n" };

  // A form is sent once, however often a key is pressed.
  let sent = false;
  if (form) {
    form.addEventListener("submit", (e) => {
      if (sent) { e.preventDefault(); return; }
      sent = true;
    });
    addEventListener("pageshow", () => { sent = false; });
  }
  const press = (key) => {
    const button = form && form.querySelector(`button[data-key="${key}"]:not([disabled])`);
    if (!button) return false;
    if (!sent) form.requestSubmit(button);
    return true;
  };
  document.addEventListener("keydown", (e) => {
    if (e.altKey || e.ctrlKey || e.metaKey || e.repeat) return;
    if (note && e.target === note) {
      if (e.key === "Escape") note.blur();
      return;
    }
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
    const key = alias[e.key] || e.key.toLowerCase();
    let done = false;
    if (key === "e" && note) {
      note.focus();
      done = true;
    } else if (key === "?" && help) {
      help.open = !help.open;
      if (help.open) help.scrollIntoView({ block: "nearest" });
      done = true;
    } else if (/^[a-z0-9]$/i.test(e.key)) {
      done = press(e.key) || press(key);
    }
    if (done) e.preventDefault();
  });
})();

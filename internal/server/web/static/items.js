// Keys: j and k, or the arrows, go to the next and the previous item; Enter opens the one
// that is chosen in a list, u goes back to the list, and / to the search.
(() => {
  "use strict";
  const rows = [...document.querySelectorAll("[data-items] tbody tr")];
  const busy = (e) => e.altKey || e.ctrlKey || e.metaKey || /^(INPUT|TEXTAREA|SELECT|BUTTON|SUMMARY)$/.test(e.target.tagName) || e.target.isContentEditable;
  const follow = (rel) => {
    const link = document.querySelector(`a[rel="${rel}"]`);
    if (link) location.href = link.href;
    return Boolean(link);
  };
  const choose = (step) => {
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    const to = at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step;
    if (to < 0) return follow("prev");
    if (to >= rows.length) return follow("next");
    const link = rows[to].querySelector("a");
    link.focus();
    rows[to].scrollIntoView({ block: "nearest" });
    return true;
  };
  const keys = {
    j: () => (rows.length ? choose(1) : follow("next")),
    k: () => (rows.length ? choose(-1) : follow("prev")),
    ArrowRight: () => !rows.length && follow("next"),
    ArrowLeft: () => !rows.length && follow("prev"),
    u: () => follow("up"),
    "/": () => {
      const search = document.getElementById("q");
      if (search) search.focus();
      return Boolean(search);
    },
  };
  document.addEventListener("keydown", (e) => {
    if (busy(e) || !Object.hasOwn(keys, e.key)) return;
    if (keys[e.key]()) e.preventDefault();
  });
})();

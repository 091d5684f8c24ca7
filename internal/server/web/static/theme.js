// The choice of light or dark is made before anything is drawn, so that nothing flashes.
(() => {
  "use strict";
  try {
    const theme = localStorage.getItem("deem-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch { /* Without storage the system's choice holds. */ }
})();

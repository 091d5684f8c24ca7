// The page of a run follows it while it goes on.
(() => {
  "use strict";
  const live = document.getElementById("live");
  if (!live || !("EventSource" in window)) return;
  const set = (name, text) => {
    const e = live.querySelector(`[data-is="${name}"]`);
    if (e && e.textContent !== text) e.textContent = text;
  };
  const show = (p) => {
    const bar = live.querySelector("progress");
    bar.max = Math.max(p.wanted, 1);
    bar.value = p.records;
    set("words", p.words);
    set("unjudged", `${p.unjudged.toLocaleString("en")} unjudged`);
    set("cost", p.cost);
    set("stopped", p.stopped ? `Stopped: ${p.stopped}` : "");
    set("rate", p.rate > 0 ? `${p.rate < 10 ? p.rate.toFixed(1) : Math.round(p.rate).toLocaleString("en")} per second` : "");
    set("eta", p.eta ? `about ${p.eta} left` : "");
  };
  // A browser opens six connections to a server, so only a tab that is seen keeps one.
  let events, done = false;
  const close = () => { if (events) events.close(); events = null; };
  const open = () => {
    if (events || done || document.hidden) return;
    events = new EventSource(live.dataset.events);
    events.addEventListener("progress", (e) => show(JSON.parse(e.data)));
    events.addEventListener("done", finish);
  };
  const finish = (e) => {
    done = true;
    close();
    show(JSON.parse(e.data));
    set("rate", "");
    set("eta", "");
    live.querySelector("[data-is=wait]").hidden = true;
    live.querySelector("[data-is=done]").hidden = false;
    live.querySelector("[data-is=status]").textContent = "The run is done.";
  };
  document.addEventListener("visibilitychange", () => document.hidden ? close() : open());
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  open();
})();


"use strict";
(() => {
  const by = (id) => document.getElementById("-" + id);
  const articles = [...document.querySelectorAll("article")];
  const sections = [...document.querySelectorAll("main > section:has(article)")];
  const links = [...document.querySelectorAll("nav li a")];
  const fields = ["find", "noun", "table", "state"];
  const form = document.querySelector(".filter");
  const texts = new Map(articles.map((article) => {
    const words = article.querySelectorAll("h3, .docs, .declarations, .found");
    return [article, [...words].map((element) => element.textContent).join(" ").toLowerCase()];
  }));

  const apply = () => {
    const [find, noun, table, state] = fields.map((name) => by(name).value);
    const words = find.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const article of articles) {
      const { noun: own, state: stands, tables } = article.dataset;
      const fits = (!noun || own === noun) && (!state || stands === state) &&
        (!table || tables.split("\n").includes(table)) && words.every((word) => texts.get(article).includes(word));
      article.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    for (const section of sections) section.hidden = !section.querySelector("article:not([hidden])");
    links.forEach((link, at) => { link.parentElement.hidden = articles[at].hidden; });
    for (const list of document.querySelectorAll("nav ul")) {
      list.hidden = list.previousElementSibling.hidden = !list.querySelector("li:not([hidden])");
    }
    by("count").value = shown + " of " + articles.length;
    by("none").hidden = shown > 0 || articles.length === 0;
  };

  // A filter is a part of the address, as "#?state=declared&noun=lease", so that it can be sent to somebody.
  const remember = () => {
    const query = new URLSearchParams();
    for (const name of fields) if (by(name).value) query.set(name, by(name).value);
    const hash = query.size ? "#?" + query : "#";
    try { history.replaceState(null, "", hash); } catch { /* A page from a file may not be allowed to. */ }
  };
  const changed = () => { apply(); remember(); };

  const arrive = () => {
    const hash = location.hash;
    if (hash.startsWith("#?")) {
      const query = new URLSearchParams(hash.slice(2));
      for (const name of fields) by(name).value = query.get(name) ?? "";
      apply();
      return;
    }
    let id = hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* Not encoded: taken as it is. */ }
    const target = id && document.getElementById(id);
    if (!target) return;
    if (target.hidden || target.closest("[hidden]")) {
      form.reset();
      apply();
    }
    target.scrollIntoView();
    if (target.matches("article")) target.focus({ preventScroll: true });
  };

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", changed);
  form.addEventListener("reset", () => setTimeout(changed));
  document.addEventListener("click", (event) => {
    const chip = event.target.closest(".chip");
    if (!chip) return;
    by("table").value = chip.dataset.table;
    changed();
    by("table").scrollIntoView({ block: "nearest" });
  });

  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, select, textarea");
    if (event.key === "Escape" && typing) {
      event.target.blur();
      return;
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const visible = articles.filter((article) => !article.hidden);
    const current = visible.indexOf(document.activeElement.closest("article"));
    const go = (at) => {
      const article = visible[Math.max(0, Math.min(visible.length - 1, at))];
      if (!article) return;
      article.focus({ preventScroll: true });
      article.scrollIntoView();
    };
    if (event.key === "/") {
      document.querySelector(".filtering").open = true;
      by("find").focus();
    }
    else if (event.key === "j") go(current + 1);
    else if (event.key === "k") go(current - 1);
    else if (event.key === "f" && current >= 0) {
      const facts = visible[current].querySelector(".facts");
      if (facts) facts.open = !facts.open;
    } else return;
    event.preventDefault();
  });

  const themes = ["auto", "light", "dark"];
  const theme = (name) => {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    by("theme").firstElementChild.textContent = name;
  };
  let chosen = "auto";
  try { chosen = localStorage.getItem("diglot-theme") ?? "auto"; } catch { /* Nothing is kept then. */ }
  if (!themes.includes(chosen)) chosen = "auto";
  theme(chosen);
  by("theme").addEventListener("click", () => {
    chosen = themes[(themes.indexOf(chosen) + 1) % themes.length];
    theme(chosen);
    try { localStorage.setItem("diglot-theme", chosen); } catch { /* As above. */ }
  });

  if (matchMedia("(max-width: 1199px)").matches) document.querySelector("nav details").open = false;
  if (matchMedia("(max-width: 800px)").matches) document.querySelector(".filtering").open = false;
  addEventListener("hashchange", arrive);
  apply();
  arrive();
})();

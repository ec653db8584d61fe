"use strict";
// One subscriber's own page. Whatever an event says is put in as text, never as markup.
(() => {
  const at = (id) => document.getElementById(id);
  const EVERY = 4000, KEPT = 100;
  let token = sessionStorage.getItem("likewise-token") || "";
  let name = "", sequence = 0, timer = 0, news = [], judged = new Map(), first = true;

  const made = (tag, text, kind) => {
    const element = document.createElement(tag);
    if (text) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };

  const told = (tag, text, kind) => {  // what stands between backticks is a name as it was written
    const element = made(tag, "", kind);
    text.split("`").forEach((part, n) => element.append(n % 2 ? made("code", part) : part));
    return element;
  };

  const when = (microseconds) => {
    const moment = new Date(microseconds / 1000);
    return moment.toDateString() === new Date().toDateString() ? moment.toLocaleTimeString() : moment.toLocaleString();
  };

  const ask = async (path, body) => {
    const headers = token ? { authorization: `Bearer ${token}` } : {};
    if (body) headers["content-type"] = "application/json";
    const answer = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), cache: "no-store" });
    const said = answer.status === 204 ? null : await answer.json().catch(() => null);
    if (!answer.ok) throw Object.assign(new Error((said && (said.detail || said.message)) || answer.statusText), { status: answer.status });
    return said;
  };

  const trouble = (text) => { at("trouble").textContent = text; at("trouble").hidden = !text; };

  const NAMES = { on: "on", absent: "absent", lasting: "lasting", excused: "unheard", watched: "watched", off: "off" };
  const keyLine = (key) => {
    const line = made("p", "", "key"), who = key.key.filter(Boolean).join(" · ") || "no source";
    line.append(made("span", NAMES[key.state] || key.state, `cause ${key.state}`), made("b", who), made("span", ` ${key.words}`, "soft"));
    return line;
  };

  const showSubscriptions = (list) => {
    at("subscriptions").replaceChildren(...list.map((each) => {
      const item = made("li");
      item.append(made("p", each.words, "headline"), made("p", each.id, "soft"));
      const keys = (each.keys || []).filter((key) => key.state !== "off" && key.state !== "watched");
      for (const key of keys.slice(0, 5)) item.append(keyLine(key));
      if (keys.length > 5) item.append(made("p", `and ${keys.length - 5}${keys.length > 19 ? " or more" : ""} others`, "soft"));
      const more = made("details");
      more.append(made("summary", "as it is written"), made("pre", each.text));
      item.append(more);
      return item;
    }));
    if (!list.length) at("subscriptions").append(made("li", "Nothing yet. Subscriptions of this name show here.", "empty"));
  };

  const thumb = (each, relevant) => {
    const button = made("button", relevant ? "✓ meant" : "✕ not meant");
    button.type = "button";
    button.setAttribute("aria-pressed", String(judged.get(each.sequence) === relevant));
    button.addEventListener("click", async () => {
      try {
        await ask("/v1/feedback", { subscriber: name, subscription: each.subscription, event_id: each.event_id, source: each.source, relevant });
        judged.set(each.sequence, relevant);
        trouble("");
        showNews();
      } catch (error) { trouble(error.message); }
    });
    return button;
  };

  const showNews = () => {
    at("news").replaceChildren(...news.map((each) => {
      const item = made("li"), top = made("p");
      top.append(made("span", each.cause, `cause ${each.cause}`), told("span", each.headline, "headline"));
      const more = made("details");
      more.append(made("summary", "why"), told("pre", each.text));
      const line = [each.subscription, each.at ? when(each.at) : ""].filter(Boolean).join(" · ");
      item.append(top, made("p", line, "soft"), more);
      if (each.event_id) {
        const thumbs = made("div", "", "thumbs");
        thumbs.append(thumb(each, true), thumb(each, false));
        item.append(thumbs);
      }
      return item;
    }));
    if (!news.length) at("news").append(made("li", "Nothing came yet.", "empty"));
  };

  const tell = (fresh) => {
    if (first || !("Notification" in window) || Notification.permission !== "granted") return;
    for (const each of fresh.slice(0, 3)) new Notification(each.headline, { body: each.subscription, tag: String(each.sequence) });
  };

  const look = async () => {
    clearTimeout(timer);
    try {
      const query = new URLSearchParams({ sequence });
      if (name) query.set("name", name);
      const said = await ask(`/v1/me?${query}`);
      name = said.name;
      const fresh = said.news || [];
      tell(fresh);
      sequence = Math.max(sequence, said.sequence);
      news = [...fresh, ...news].slice(0, KEPT);
      showSubscriptions(said.subscriptions || []);
      if (fresh.length || first) showNews();
      first = false;
      const names = said.names || [];
      at("names").hidden = names.length < 2;
      if (at("names").options.length !== names.length) at("names").replaceChildren(...names.map((each) => new Option(each, each, false, each === name)));
      at("door").hidden = true; at("mine").hidden = false; at("leave").hidden = !token;
      at("notify").hidden = !("Notification" in window) || Notification.permission !== "default";
      trouble("");
    } catch (error) {
      if (error.status === 401 || error.status === 403) {
        at("door").hidden = false; at("mine").hidden = true; at("leave").hidden = true;
        trouble(token ? error.message : "");
        return;
      }
      trouble("The broker does not answer; trying again.");
    }
    timer = setTimeout(look, EVERY);
  };

  const begin = (whose) => { name = whose; sequence = 0; news = []; first = true; judged = new Map(); look(); };

  at("door").addEventListener("submit", (event) => {
    event.preventDefault();
    token = at("token").value.trim();
    sessionStorage.setItem("likewise-token", token);
    at("token").value = "";
    begin("");
  });
  at("leave").addEventListener("click", () => { sessionStorage.removeItem("likewise-token"); token = ""; begin(""); });
  at("names").addEventListener("change", () => begin(at("names").value));
  at("notify").addEventListener("click", async () => { await Notification.requestPermission(); at("notify").hidden = true; });
  if (location.hash.startsWith("#token=")) {
    token = decodeURIComponent(location.hash.slice(7));
    sessionStorage.setItem("likewise-token", token);
    history.replaceState(null, "", location.pathname);
  }
  begin("");
})();

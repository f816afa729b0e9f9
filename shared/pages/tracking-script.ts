// The script that a site puts into its pages: `<script async
// src=".../tracking/script?siteId=1"></script>`. It tracks page views at once.
// With `data-consent="required"` it stores nothing and sends nothing until the page calls
// `pennymail.consent()`; earlier calls wait in memory. `pennymail.consent(false)` withdraws
// consent. Calls before it loads: `(window.pennymail ||= []).push(["track", "name"])`.

/** `api` is where it sends to, with a slash at the end. */
export const trackingScript = (siteId: number, api: string): string =>
  source.replace("SITE", String(siteId)).replace("API", () => JSON.stringify(api));

// No text or pattern in it holds a space, so every one that separates nothing can go.
const minify = (text: string): string =>
  text.replace(/\s*([=<>?:{}(),;|&+]+)\s*/g, "$1").replace(/\s+/g, " ");

const source = minify(`(function (w, d, h) {
  var early = w.pennymail, own = d.currentScript, key = "pennymail_visitor", no = "no",
    mode = own && own.getAttribute("data-consent"), waiting = [], granted, id, last, me;
  if (early && early.track) return;
  function kept() { try { return localStorage.getItem(key) } catch (e) {} }
  function hex(byte) { return (byte + 256).toString(16).slice(1) }
  function visitor() {
    id = id || kept();
    if (!id || id == no) {
      id = Array.from(crypto.getRandomValues(new Uint8Array(16)), hex).join("");
      try { localStorage.setItem(key, id) } catch (e) {}
    }
    return id
  }
  function send(path, body) {
    if (!granted) return void (waiting.length < 50 && waiting.push([path, body]));
    body.siteId = SITE;
    body.visitorId = visitor();
    var to = API + path, text = JSON.stringify(body), nav = navigator;
    nav.sendBeacon && nav.sendBeacon(to, text) ||
      w.fetch(to, {
        method: "POST",
        body: text,
        keepalive: true,
        mode: "no-cors",
        credentials: "omit"
      }).catch(function () {})
  }
  function here() { return location.href.replace(/#(?![!/]).*/, "").slice(0, 2000) }
  function view() {
    var url = here();
    if (url != last) send("event", { type: "page_view", url: last = url })
  }
  me = w.pennymail = {
    track: function (name, properties) {
      send("event", { type: "custom", name: name, properties: properties, url: here() })
    },
    identify: function (who) {
      send("identify", { email: who.email, contactToken: who.contactToken })
    },
    consent: function (yes) {
      var some = waiting;
      waiting = [];
      granted = yes !== false;
      if (granted) return some.forEach(function (one) { send(one[0], one[1]) });
      id = 0;
      try {
        mode == "required" ? localStorage.removeItem(key) : localStorage.setItem(key, no)
      } catch (e) {}
    }
  };
  ["pushState", "replaceState"].forEach(function (name) {
    var own = h[name];
    h[name] = function () { own.apply(h, arguments); view() }
  });
  ["popstate", "hashchange"].forEach(function (name) { w.addEventListener(name, view) });
  view();
  early && early.forEach && early.forEach(function (call) { me[call[0]].apply(me, call.slice(1)) });
  if (granted == null && (mode == "granted" || mode != "required" && kept() != no)) me.consent()
})(window, document, history);
`);

// The script that puts a form into a page: `<script src=".../forms/1/embed" async></script>`, where it stands; or, where that is not to
// be, into the first element with `data-pennymail-form="1"`. Without any look but the page's own, and a little order.
import { type Html, html } from "../http/html.ts";
import { form, type Shown } from "./form.ts";
import { words } from "./words.ts";

interface Embedded extends Shown {
  pending: boolean;
  redirectUrl: string | null;
}

/** To be pasted: it works without script, and leads to our page of thanks. */
export const snippet = (shown: Shown): string => `${form(shown).html}\n`;

export function script(embedded: Embedded): string {
  const { formId, design, language, pending, redirectUrl } = embedded;
  const said = words[language];
  const done = pending ? `${said.pendingTitle}. ${said.pending}` : (design.successMessage ?? `${said.thanksTitle}. ${said.thanks}`);
  return call(formId, form(embedded), { done, failed: said.failed, to: redirectUrl });
}

/** Of a form that takes nothing. */
export const closedScript = (formId: number, text: string): string => call(formId, html`<p>${text}</p>`, {});

const call = (formId: number, content: Html, settings: object): string =>
  source.replace("ID", String(formId)).replace("SETTINGS", () => JSON.stringify({ html: style + content.html, ...settings }));

const style =
  "<style>.pennymail label{display:block}.pennymail :is(input:not([type=checkbox]),select,textarea){display:block;box-sizing:border-box;width:100%;max-width:30rem;font:inherit;padding:.4em}.pennymail button{font:inherit;padding:.5em 1.2em}.pennymail [aria-invalid]{outline:2px solid #b3261e}</style>";

const small = (text: string): string => text.replace(/\n\s*/g, "");

const source = small(`(function (w, d, o) {
  var own = d.currentScript, box = d.querySelector('[data-pennymail-form="ID"]') || d.createElement("div");
  if (!box.parentNode) own && own.parentNode != d.head ? own.parentNode.insertBefore(box, own) : d.body.appendChild(box);
  box.className += " pennymail";
  box.innerHTML = o.html;
  var form = box.querySelector("form");
  if (!form) return;
  box.querySelector("[data-trap]").style.cssText = "position:absolute;left:-9999px";
  var button = box.querySelector("button"), told = [];
  function tell(text, role, before) {
    var p = d.createElement("p");
    p.setAttribute("role", role);
    p.tabIndex = -1;
    box.insertBefore(p, before);
    p.textContent = text;
    told.push(p);
    return p;
  }
  function clear() {
    told.splice(0).forEach(function (one) { one.remove() });
    form.querySelectorAll("[aria-invalid]").forEach(function (one) {
      one.removeAttribute("aria-invalid");
      one.removeAttribute("aria-describedby");
    });
  }
  function wrong(problem) {
    var first;
    (problem.details || []).forEach(function (one) {
      var field = box.querySelector('[name="' + one.path + '"]'), note = d.createElement("span");
      if (!field || !field.id) return;
      note.id = field.id + "-fault";
      note.textContent = one.message;
      field.setAttribute("aria-invalid", "true");
      field.setAttribute("aria-describedby", note.id);
      field.parentNode.appendChild(note);
      told.push(note);
      first = first || field;
    });
    first ? first.focus() : tell(problem.error || o.failed, "alert", form);
  }
  form.addEventListener("submit", function (event) {
    event.preventDefault();
    clear();
    button.disabled = true;
    w.fetch(form.getAttribute("action"), {
      method: "POST",
      body: new URLSearchParams(new FormData(form)),
      headers: { accept: "application/json" },
      credentials: "omit"
    }).then(function (answer) {
      return answer.json().then(function (body) {
        if (!answer.ok) return wrong(body);
        if (o.to) return void (location.href = o.to);
        form.setAttribute("hidden", "");
        tell(o.done, "status", form).focus();
      });
    }).catch(function () { wrong({}) }).then(function () { button.disabled = false });
  });
})(window, document, SETTINGS);
`);

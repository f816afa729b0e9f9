// The script that puts a form into a page: `<script src=".../forms/1/embed" async></script>`. The
// form appears in the element with `data-pennymail-form="1"`, or in place of the script, when the
// page is parsed: an `async` script can run before that. It takes the look of the page.

import { captchaProviders } from "../domain/forms/captcha-providers.ts";
import { formPageWording } from "../email/wording/by-topic.ts";
import { type Html, html } from "../kernel/html.ts";
import { captchaScript, type FormView, renderEmbeddedForm } from "./form-html.ts";

interface EmbeddedForm extends FormView {
  pending: boolean;
  redirectUrl: string | null;
}

/** HTML to paste into a page. It works without script and leads to the thank-you page. */
export const formSnippet = (view: FormView): string =>
  `${html`${[renderEmbeddedForm(view), captchaScript(view)]}`.html}\n`;

export function formEmbedScript(embedded: EmbeddedForm): string {
  const { formId, design, language, pending, redirectUrl } = embedded;
  const wording = formPageWording[language];
  const done = pending
    ? `${wording.pendingTitle}. ${wording.pending}`
    : (design.successMessage ?? `${wording.thanksTitle}. ${wording.thanks}`);
  const failed = {
    validation_failed: wording.errorSummaryTitle,
    form_inactive: wording.inactive,
    rate_limited: wording.busy,
    other: wording.failed,
    ...(embedded.captcha && {
      captcha_failed: wording.captchaFailed,
      captcha_unavailable: wording.captchaUnavailable,
    }),
  };
  const traits = embedded.captcha && captchaProviders[embedded.captcha.provider];
  const captcha = traits && [traits.globalName, traits.className, traits.scriptUrl];
  return buildScript(formId, renderEmbeddedForm(embedded), {
    ...{ done, failed, to: redirectUrl },
    ...(captcha && { captcha }),
  });
}

/** The script of a form that accepts no entries. */
export const closedFormScript = (formId: number, text: string): string =>
  buildScript(formId, html`<p>${text}</p>`, {});

const buildScript = (
  formId: number,
  content: Html,
  settings: { captcha?: readonly string[] },
): string =>
  source
    .replace("CAPTCHA", settings.captcha ? captchaSource : "")
    .replace("RESET", settings.captcha ? captchaReset : "")
    .replace("ID", String(formId))
    .replace("SETTINGS", () => JSON.stringify({ html: style + content.html, ...settings }));

const minify = (text: string): string => text.replace(/\n\s*/g, "");

const style = minify(`<style>
.pennymail label{display:block}
.pennymail :is(input:not([type=checkbox]),select,textarea){
  display:block;box-sizing:border-box;width:100%;max-width:30rem;font:inherit;padding:.4em}
.pennymail button{font:inherit;padding:.5em 1.2em;cursor:pointer}
.pennymail button[style]{border:0;border-radius:.4em}
.pennymail [aria-invalid]{outline:2px solid #b3261e}
</style>`);

const source = minify(`(function (w, d, o) {
  var own = d.currentScript;
  d.readyState == "loading" ? d.addEventListener("DOMContentLoaded", show) : show();
  function show() {
    var box = d.querySelector('[data-pennymail-form="ID"]') || d.createElement("div");
    if (!box.parentNode)
      own && own.parentNode != d.head
        ? own.parentNode.insertBefore(box, own)
        : d.body.appendChild(box);
    box.className += " pennymail";
    box.innerHTML = o.html;
    var form = box.querySelector("form");
    if (!form) return;
    box.querySelector("[data-trap]").style.cssText = "position:absolute;top:-9999px";
    var button = box.querySelector("button"), notes = [];
    CAPTCHA
    function tell(text, role, before) {
      var p = d.createElement("p");
      p.setAttribute("role", role);
      p.tabIndex = -1;
      box.insertBefore(p, before);
      p.textContent = text;
      notes.push(p);
      return p;
    }
    function clear() {
      notes.splice(0).forEach(function (one) { one.remove() });
      form.querySelectorAll("[aria-invalid]").forEach(function (one) {
        one.removeAttribute("aria-invalid");
        one.removeAttribute("aria-describedby");
      });
    }
    function wrong(problem) {
      var first;
      RESET
      (problem.details || []).forEach(function (one) {
        var field = box.querySelector('[name="' + one.path + '"]'), note = d.createElement("span");
        if (!field || !field.id) return;
        note.id = field.id + "-fault";
        note.textContent = one.message;
        field.setAttribute("aria-invalid", "true");
        field.setAttribute("aria-describedby", note.id);
        field.parentNode.appendChild(note);
        notes.push(note);
        first = first || field;
      });
      first ? first.focus() : tell(o.failed[problem.code] || o.failed.other, "alert", form);
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
  }
})(window, document, SETTINGS);
`);

/** Shows the CAPTCHA, and shows it again after a refusal, because a token is valid once. */
const captchaSource = minify(`var c = o.captcha, shown;
    function load() {
      var api = w[c[0]], place = box.querySelector("." + c[1]);
      var data = place.dataset;
      var options = { sitekey: data.sitekey, language: data.language, hl: data.hl };
      if (api) return void (shown = api.render(place, options));
      var script = d.createElement("script");
      script.src = c[2] + "?render=explicit";
      script.async = true;
      script.onload = function wait() { w[c[0]] ? load() : w.setTimeout(wait, 50) };
      d.head.appendChild(script);
    }
    load();
`);
const captchaReset = "w[c[0]] && w[c[0]].reset(shown);";

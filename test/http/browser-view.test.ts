// The page behind `{{ browserUrl }}`: the email of one person in a browser.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocalService } from "../../infra/local/service.ts";
import { expectStatus } from "../support/api-client.ts";
import { sendNewsletter, startNewsletterService } from "../support/newsletters.ts";

let service: LocalService;
beforeAll(async () => {
  service = await startNewsletterService();
});
afterAll(() => service.stop());

const html =
  '<html lang="en"><head><meta charset="utf-8"></head><body><p>Hello {{ firstName }}</p>' +
  '<a href="{{ browserUrl }}">View in browser</a><script>alert(1)</script>' +
  '<a href="https://shop.example/?from={{ email }}">Shop</a></body></html>';
const sendWithLink = async (options: Parameters<typeof sendNewsletter>[1] = {}) => {
  const reader = await sendNewsletter(service, { html, ...options });
  const [, url = ""] = /href="([^"]*\/view\/[^"]*)"/.exec(reader.mail.html ?? "") ?? [];
  return { ...reader, url };
};

describe("a newsletter with the link", () => {
  test("shows what this person got, with the same links", async () => {
    const { url, mail, email, unsubscribePageUrl, status } = await sendWithLink();
    expect(url).toMatch(new RegExp(`^${service.url}/view/[\\w-]{40,}$`));
    const page = await fetch(url);
    const shown = await page.text();
    expect([page.status, page.headers.get("content-type")]).toEqual([
      200,
      "text/html; charset=utf-8",
    ]);
    expect(shown).toContain("<p>Hello Ann</p>");
    expect(shown).toContain(`https://shop.example/?from=${email}`);
    const added = '<meta name="robots" content="noindex"><title>News</title>';
    expect(shown.replace(added, "")).toBe(
      mail.html!.replace(/^(<!doctype html>)?/i, "<!doctype html>"),
    );
    // The link in the page unsubscribes this person.
    const [, link = ""] = /<a href="([^"]*\/unsubscribe\/[^"]*)"/.exec(shown) ?? [];
    expect(link).toBe(unsubscribePageUrl);
    await fetch(link, { method: "POST", body: new URLSearchParams({ action: "unsubscribe" }) });
    expect(await status()).toBe("unsubscribed");
  });

  test("runs no script, is not listed by search engines and is not stored by caches", async () => {
    const { url } = await sendWithLink();
    const { headers } = await fetch(url);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(
      /^sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'/,
    );
    expect(policy).not.toMatch(/allow-scripts|allow-forms|allow-same-origin|script-src/);
    expect(policy).toContain("form-action 'none'; frame-ancestors 'none'; base-uri 'none'");
    expect([headers.get("x-robots-tag"), headers.get("cache-control")]).toEqual([
      "noindex",
      "no-store",
    ]);
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
  });

  test("opening it counts no open and no click", async () => {
    const { url, client, email } = await sendWithLink();
    await (await fetch(url)).text();
    const { events } = expectStatus(
      200,
      await client.call<{ events: { type: string }[] }>("GET", `/events?email=${email}`),
    ).body.data;
    expect(events.filter(({ type }) => /open|click/.test(type))).toEqual([]);
  });

  test("says so when the email is no longer stored", async () => {
    const { url, client, contactId } = await sendWithLink();
    expectStatus(200, await client.call("DELETE", `/contacts/${contactId}?erase=true`));
    const page = await fetch(url, { headers: { "accept-language": "de" } });
    expect([page.status, await page.text()]).toEqual([
      410,
      expect.stringContaining("nicht mehr gespeichert"),
    ]);
  });

  test("the content for members of the organization does not reveal the link", async () => {
    const { client, sendId } = await sendWithLink();
    const { html: shown } = expectStatus(
      200,
      await client.call<{ html: string }>("GET", `/sends/${sendId}/content`),
    ).body.data;
    expect(shown).toContain(`href="${service.url}/view/hidden"`);
  });
});

test("the link works in the plain text part, too", async () => {
  const { mail } = await sendWithLink({ html: "{{ browserUrl }} <b>" });
  const [url = ""] = /https?:\S+\/view\/[\w-]+/.exec(mail.text ?? "") ?? [];
  expect((await fetch(url)).status).toBe(200);
});

test("the link of a preview or test says that it works in sent emails", async () => {
  const client = (await sendNewsletter(service)).client;
  const template = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/templates", { name: "N", subject: "N", html }),
  ).body.data;
  const rendered = expectStatus(
    200,
    await client.call<{ missingVariables: string[] }>("POST", `/templates/${template.id}/render`, {
      variables: {},
    }),
  ).body.data;
  expect(rendered.missingVariables).toEqual(["firstName"]);
  const page = await fetch(`${service.url}/view/preview`);
  expect([page.status, await page.text()]).toEqual([
    200,
    expect.stringContaining("works in sent emails"),
  ]);
});

test.each(["x", "A".repeat(80), "é".repeat(900)])("a forged token opens nothing", async (token) => {
  const page = await fetch(`${service.url}/view/${encodeURIComponent(token)}`);
  expect(page.status).toBe(404);
});

test("a token for unsubscribing does not show the email", async () => {
  const { unsubscribePageUrl } = await sendNewsletter(service);
  const token = unsubscribePageUrl.split("/").at(-1);
  expect((await fetch(`${service.url}/view/${token}`)).status).toBe(404);
});

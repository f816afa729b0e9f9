// Unsubscribing from marketing mail by header, footer and page.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocalService } from "../../infra/local/service.ts";
import { expectStatus } from "../support/api-client.ts";
import { type CustomerEndpoint, startCustomerEndpoint } from "../support/customer-endpoint.ts";
import { findHeader, sendNewsletter, startNewsletterService } from "../support/newsletters.ts";

let service: LocalService;
beforeAll(async () => {
  service = await startNewsletterService();
});
afterAll(() => service.stop());

const form = "application/x-www-form-urlencoded";
const body = "List-Unsubscribe=One-Click";
const post = (
  url: string,
  headers: Record<string, string> = { "content-type": form },
  content: string | null = body,
) => fetch(url, { method: "POST", headers, body: content, redirect: "manual" });

describe.each(["resend", "mandrill"] as const)("mail through %s", (provider) => {
  test("has List-Unsubscribe headers, an unsubscribe link and the sender", async () => {
    const { mail, unsubscribePageUrl, oneClickUrl } = await sendNewsletter(service, { provider });
    expect(oneClickUrl).toMatch(new RegExp(`^${service.url}/api/v1/unsubscribe\\?token=[\\w-]+$`));
    expect(findHeader(mail, "list-unsubscribe-post")).toBe(body);
    expect(unsubscribePageUrl).toMatch(new RegExp(`^${service.url}/api/v1/unsubscribe/[\\w-]+$`));
    expect(mail.text).toMatch(
      /^Hello Ann\n+-+\nSøren & Sons\n1 High Street\nLondon\nUnsubscribe: /,
    );
    expect(mail.html).toContain(
      `Søren &amp; Sons<br>1 High Street<br>London<br><a href="${unsubscribePageUrl}"`,
    );
  });
});

describe("one click", () => {
  const boundary = "x1";
  test.each<[string, Record<string, string>, string | null]>([
    ["as a form", { "content-type": form }, body],
    ["as a form with a charset", { "content-type": `${form}; charset=utf-8` }, body],
    [
      "as a multipart form",
      { "content-type": `multipart/form-data; boundary=${boundary}` },
      `--${boundary}\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--${boundary}--\r\n`,
    ],
    ["as plain text", { "content-type": "text/plain" }, body],
    ["as invalid JSON", { "content-type": "application/json" }, body],
    ["without a body", {}, null],
  ])(
    "%s unsubscribes at once, without a cookie, a page or a redirect, and may come again",
    async (_, headers, payload) => {
      const { oneClickUrl, status } = await sendNewsletter(service);
      for (let n = 0; n < 2; n++) {
        const answer = await post(oneClickUrl, headers, payload);
        expect([answer.status, await answer.json()]).toEqual([
          200,
          { data: { unsubscribed: true } },
        ]);
        expect([
          answer.headers.get("set-cookie"),
          answer.headers.get("access-control-allow-origin"),
        ]).toEqual([null, "*"]);
        expect(await status()).toBe("unsubscribed");
      }
    },
  );

  test("unsubscribes with POST only; GET changes nothing", async () => {
    const { oneClickUrl, unsubscribePageUrl, status } = await sendNewsletter(service);
    const looked = [
      await fetch(oneClickUrl),
      await fetch(oneClickUrl, { method: "HEAD" }),
      await fetch(unsubscribePageUrl, { method: "HEAD" }),
    ];
    expect(looked.map(({ status: one }) => one)).toEqual([200, 200, 200]);
    for (let n = 0; n < 3; n++) expect((await fetch(unsubscribePageUrl)).status).toBe(200);
    expect(await status()).toBe("subscribed");
  });

  test("its URL opens the page, whose form goes to the address of the page", async () => {
    const { oneClickUrl, unsubscribePageUrl, status } = await sendNewsletter(service);
    const read = async (url: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(url, { headers });
      return [answer.status, answer.headers.get("content-type"), await answer.text()] as const;
    };
    const shown = await read(oneClickUrl);
    expect(shown).toEqual(await read(unsubscribePageUrl));
    const [, action] = /<form method="post" action="([^"]+)">/.exec(shown[2])!;
    expect(new URL(action!, oneClickUrl).href).toBe(unsubscribePageUrl);
    const json = { accept: "application/json" };
    expect(JSON.parse((await read(oneClickUrl, json))[2])).toMatchObject({
      data: { state: "subscribed" },
    });
    const [forgedStatus, forgedType, forged] = await read(`${oneClickUrl.slice(0, -8)}AAAAAAAA`);
    expect([forgedStatus, forgedType]).toEqual([404, "text/html; charset=utf-8"]);
    expect(forged).toContain("This link does not work");
    expect((await read(oneClickUrl.split("?")[0]!))[0]).toBe(400);
    expect(await status()).toBe("subscribed");
  });

  test("refuses a token that is missing, forged, truncated or of another purpose", async () => {
    const { oneClickUrl, mail, status } = await sendNewsletter(service, {
      html: "<p>[{{ contactToken }}]</p>",
    });
    const [, contactToken] = /\[([\w-]+)\]/.exec(mail.html ?? "")!;
    const at = oneClickUrl.split("=")[0]!;
    const answers = await Promise.all(
      ["made-up", oneClickUrl.split("=")[1]!.slice(0, -8), contactToken].map((token) =>
        post(`${at}=${token}`),
      ),
    );
    for (const answer of answers)
      expect([answer.status, await answer.json()]).toMatchObject([404, { code: "not_found" }]);
    expect((await post(at.split("?")[0]!)).status).toBe(400);
    expect(await status()).toBe("subscribed");
  });
});

describe("the page", () => {
  const page = (url: string, init: RequestInit = {}) =>
    fetch(url, { headers: { "accept-language": "en" }, ...init });

  test.each([
    ["de-AT,de;q=0.9,en;q=0.5", "de", "Abmelden?"],
    ["fr", "fr", "Se désabonner"],
    ["es-MX", "es", "¿Darse de baja?"],
    ["ja", "ja", "配信を停止しますか？"],
    ["ar-EG,en;q=0.5", "ar", "هل تريد إلغاء الاشتراك؟"],
    ["xx, en;q=0.1", "en", "Unsubscribe?"],
    ["", "en", "Unsubscribe?"],
  ])("asks in the language of %s", async (acceptLanguage, language, title) => {
    const { unsubscribePageUrl: link, email } = await sendNewsletter(service);
    const answer = await page(link, { headers: { "accept-language": acceptLanguage } });
    const text = await answer.text();
    expect([
      answer.status,
      answer.headers.get("content-type"),
      answer.headers.get("content-language"),
    ]).toEqual([200, "text/html; charset=utf-8", language]);
    expect(text).toContain(`<html lang="${language}" dir="${language === "ar" ? "rtl" : "ltr"}">`);
    for (const part of [title, email, "Søren &amp; Sons"]) expect(text).toContain(part);
  });

  test("asks in the language of the contact, also with a browser of another", async () => {
    const { client, contactId, unsubscribePageUrl: link } = await sendNewsletter(service);
    expectStatus(200, await client.call("PUT", `/contacts/${contactId}`, { locale: "ar-EG" }));
    const answer = await page(link);
    expect(answer.headers.get("content-language")).toBe("ar");
    expect(await answer.text()).toContain('<html lang="ar" dir="rtl">');
    const json = await page(link, { headers: { accept: "application/json" } });
    expect(await json.json()).not.toHaveProperty("data.locale");
  });

  test("has no cookie, cache, script, frame or referrer", async () => {
    const { unsubscribePageUrl: link } = await sendNewsletter(service);
    const { headers } = await page(link);
    expect(headers.get("set-cookie")).toBeNull();
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("content-security-policy")).toMatch(
      /default-src 'none'.*frame-ancestors 'none'/,
    );
  });

  test("unsubscribes and resubscribes with its form", async () => {
    const { unsubscribePageUrl: link, status } = await sendNewsletter(service);
    const sent = async (content: string) =>
      (
        await page(link, { method: "POST", headers: { "content-type": form }, body: content })
      ).text();
    // A scanner submits the form without a button.
    for (const content of ["", "shown=1", "x=1", "List-Unsubscribe=1"]) {
      expect(await sent(content)).toContain("Unsubscribe?");
      expect(await status()).toBe("subscribed");
    }
    expect(await sent("action=unsubscribe")).toContain("You are unsubscribed");
    expect(await status()).toBe("unsubscribed");
    expect(await sent("action=resubscribe")).toContain("Welcome back");
    expect(await sent(body)).toContain("You are unsubscribed");
    expect(await (await page(link)).text()).toContain("You are unsubscribed");
    expect(await sent("action=resubscribe")).toContain("Welcome back");
    expect(await status()).toBe("subscribed");
    expect(await (await page(link)).text()).toContain("Unsubscribe?");
    expect(await sent("action=unsubscribe&more=1")).toContain("You are unsubscribed");
  });

  test("says that a suppressed address gets no mail, and offers no action", async () => {
    const { unsubscribePageUrl: link, client, email, status } = await sendNewsletter(service);
    expectStatus(201, await client.call("POST", "/suppressions", { email }));
    const text = await (await page(link)).text();
    expect(text).toContain("This address does not receive emails");
    expect(text).not.toContain("<button");
    expect(await (await page(link, { method: "POST" })).text()).toContain(
      "This address does not receive emails",
    );
    expect(await status()).toBe("suppressed");
  });

  test("is an error page for an invalid link", async () => {
    for (const method of ["GET", "POST"]) {
      const answer = await page(`${service.url}/api/v1/unsubscribe/made-up`, { method });
      expect([answer.status, answer.headers.get("content-type")]).toEqual([
        404,
        "text/html; charset=utf-8",
      ]);
      expect(await answer.text()).toContain("This link does not work");
    }
  });

  test("responds with JSON to programs of any origin", async () => {
    const { unsubscribePageUrl: link, email, status } = await sendNewsletter(service);
    const json = { accept: "application/json" };
    const statusBody = (state: string) => ({
      data: {
        email,
        siteName: "Søren & Sons",
        state,
        everything: false,
        topicId: null,
        topics: [],
        snoozedUntil: null,
        canSnooze: true,
        asksLeaveReason: state === "unsubscribed",
        fields: [],
      },
    });
    const statusPage = await page(link, { headers: json });
    expect([
      statusPage.headers.get("content-type"),
      statusPage.headers.get("access-control-allow-origin"),
    ]).toEqual(["application/json; charset=utf-8", "*"]);
    expect(await statusPage.json()).toEqual(statusBody("subscribed"));
    const payload = (fields: unknown) =>
      page(link, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(fields),
      });
    expect(await (await payload({})).json()).toEqual(statusBody("unsubscribed"));
    expect(await (await payload({ action: "resubscribe" })).json()).toEqual(
      statusBody("subscribed"),
    );
    expect(await (await payload({ action: "unsubscribe" })).json()).toEqual(
      statusBody("unsubscribed"),
    );
    expect(await status()).toBe("unsubscribed");
    const preflight = await fetch(link, {
      method: "OPTIONS",
      headers: { origin: "https://shop.example" },
    });
    expect(preflight.headers.get("access-control-allow-headers")).toContain("content-type");
    const missing = await page(`${service.url}/api/v1/unsubscribe/made-up`, { headers: json });
    expect([missing.status, await missing.json()]).toMatchObject([
      404,
      { code: "not_found", error: "This link is not valid" },
    ]);
  });

  test.each<[number, string, string, string]>([
    [400, "application/json", '{"action":"delete"}', "validation_failed"],
    [400, "application/json", '{"action', "invalid_json"],
    [400, form, "action=delete", "validation_failed"],
    [413, form, `a=${"x".repeat(33_000)}`, "payload_too_large"],
  ])("responds %i to an invalid %s", async (expectedStatus, type, payload, code) => {
    const { unsubscribePageUrl: link, status } = await sendNewsletter(service);
    const answer = await page(link, {
      method: "POST",
      headers: { "content-type": type },
      body: payload,
    });
    expect([answer.status, await answer.json()]).toMatchObject([expectedStatus, { code }]);
    expect(await status()).toBe("subscribed");
  });
});

test("without topics, the preference page offers to leave the site", async () => {
  const { unsubscribePageUrl: link, status } = await sendNewsletter(service);
  const preferences = `${link}?view=preferences`;
  const shown = await (await fetch(preferences)).text();
  expect(shown).toContain("<h1>Your email preferences</h1>");
  expect(shown).toContain('value="unsubscribe_site"');
  expect(shown).not.toContain("choose_topics");
  expect(await (await fetch(link)).text()).toContain("<h1>Unsubscribe?</h1>");
  expect((await fetch(`${link}?view=other`)).status).toBe(400);
  expect(await status()).toBe("subscribed");
  const scanned = await post(preferences, { "content-type": form }, "");
  expect(await scanned.text()).toContain("<h1>Unsubscribe?</h1>");
  expect(await status()).toBe("subscribed");
});

test("a custom page gets the token, and one click still goes to the service", async () => {
  const compliance = { unsubscribeUrl: "https://shop.example/bye?from=mail&x=1" };
  const { mail, unsubscribePageUrl, oneClickUrl, status } = await sendNewsletter(service, {
    compliance,
  });
  const token = new URL(unsubscribePageUrl).searchParams.get("token")!;
  expect(unsubscribePageUrl).toBe(`https://shop.example/bye?from=mail&x=1&token=${token}`);
  expect(mail.html).toContain(`href="${unsubscribePageUrl.replaceAll("&", "&amp;")}"`);
  expect(new URL(oneClickUrl).searchParams.get("token")).toBe(token);
  expect((await post(oneClickUrl)).status).toBe(200);
  expect(await status()).toBe("unsubscribed");
});

test("marketing mail without a physical address is refused if the organization requires one", async () => {
  const { client } = await sendNewsletter(service);
  expectStatus(200, await client.call("PUT", "/compliance", { enabled: true }));
  const { requireMarketingSender } = await import(
    "../../shared/domain/sending/rendering/marketing-mail.ts"
  );
  const site = { id: 1, name: "Shop", companyName: null, physicalAddress: " " } as never;
  await expect(requireMarketingSender(client.orgId, site)).rejects.toMatchObject({
    kind: "invalid",
    code: "physical_address_missing",
  });
  expectStatus(200, await client.call("PUT", "/compliance", { physicalAddress: "2 Low Street" }));
  expect(await requireMarketingSender(client.orgId, site)).toMatchObject({
    companyName: "Shop",
    physicalAddress: "2 Low Street",
  });
});

test("an unsubscribe is recorded once in the send, the events and the webhooks", async () => {
  const endpoint: CustomerEndpoint = await startCustomerEndpoint();
  const { client, oneClickUrl, unsubscribePageUrl, sendId, contactId, email } =
    await sendNewsletter(service);
  expectStatus(
    201,
    await client.call("POST", "/webhooks", { url: endpoint.url, events: ["unsubscribe"] }),
  );
  await post(oneClickUrl);
  await post(unsubscribePageUrl);
  const { events } = expectStatus(
    200,
    await client.call<{ events: object[] }>("GET", `/sends/${sendId}`),
  ).body.data;
  expect(events.filter((one) => "type" in one && one.type === "unsubscribe")).toHaveLength(1);
  const listed = expectStatus(
    200,
    await client.call<{ events: object[] }>("GET", "/events?type=unsubscribe"),
  ).body.data.events;
  expect(listed).toMatchObject([{ sendId, toEmail: email, type: "unsubscribe" }]);
  await expect.poll(() => endpoint.deliveries.length).toBe(1);
  expect(JSON.parse(endpoint.deliveries[0]!.body)).toMatchObject({
    event: "unsubscribe",
    sendId,
    contactId,
    email,
  });
  endpoint.close();
});

describe("mail on a topic", () => {
  const topics = [
    { name: "Product news", description: "What is new, <once> a month" },
    { name: "Offers" },
    { name: "Extra", defaultSubscription: "unsubscribed" as const },
  ];
  const submit = (link: string, fields: [string, string][]) =>
    post(link, { "content-type": form }, new URLSearchParams(fields).toString());

  test("links to the preferences, and one click leaves only its topic", async () => {
    const reader = await sendNewsletter(service, {
      topics,
      html: '<p><a href="{{ preferencesUrl }}">Choose</a></p>',
    });
    const { mail, oneClickUrl, unsubscribePageUrl: link, chosen, status } = reader;
    const preferences = `${link}?view=preferences`;
    expect(mail.text).toContain(`\nUnsubscribe: ${link}\nEmail preferences: ${preferences}\n`);
    expect(mail.html!.split(`href="${link}"`)).toHaveLength(2);
    expect(mail.html!.split(`href="${preferences}"`)).toHaveLength(3);
    for (let n = 0; n < 2; n++) expect((await post(oneClickUrl)).status).toBe(200);
    expect(await chosen()).toEqual({ "Product news": false, Offers: true, Extra: false });
    expect(await status()).toBe("subscribed");
  });

  test("has a page that shows the choices, changes nothing by itself and saves them", async () => {
    const { unsubscribePageUrl: link, chosen, status } = await sendNewsletter(service, { topics });
    const shown = await (await fetch(`${link}?view=preferences`)).text();
    expect(shown.match(/<input type="checkbox"[^>]*>[^<]*/g)?.map(withoutIds)).toEqual([
      '<input type="checkbox" name="topic" checked aria-describedby>Product news',
      '<input type="checkbox" name="topic" checked>Offers',
      '<input type="checkbox" name="topic">Extra',
    ]);
    expect(shown).toContain("What is new, &lt;once&gt; a month");
    expect(await chosen()).toEqual({ "Product news": true, Offers: true, Extra: false });
    const ids = [...shown.matchAll(/name="shown" value="(\d+)"/g)].map(([, id = ""]) => id);
    const fields: [string, string][] = [
      ["action", "choose_topics"],
      ...ids.map((id): [string, string] => ["shown", id]),
    ];
    const saved = await submit(link, [...fields, ["topic", ids[0]!], ["topic", ids[2]!]]);
    expect(await saved.text()).toContain("Your choices are saved");
    expect(await chosen()).toEqual({ "Product news": true, Offers: false, Extra: true });
    expect(await status()).toBe("subscribed");
    await submit(link, [["action", "unsubscribe_site"]]);
    expect(await status()).toBe("unsubscribed");
    await submit(link, [["action", "resubscribe"]]);
    expect([await status(), await chosen()]).toEqual([
      "subscribed",
      { "Product news": true, Offers: false, Extra: true },
    ]);
  });

  test("has an unsubscribe page with one button, and a link to the preferences", async () => {
    const { unsubscribePageUrl: link, chosen, status } = await sendNewsletter(service, { topics });
    const shown = await (await fetch(link)).text();
    expect(shown).toContain("<h1>Unsubscribe?</h1>");
    expect(shown.match(/<button/g)).toHaveLength(1);
    expect(shown).not.toContain('type="checkbox"');
    expect(shown).toContain(`href="${new URL(link).pathname}?view=preferences"`);
    expect(await chosen()).toMatchObject({ "Product news": true, Offers: true });
    const left = await submit(link, [["action", "unsubscribe"]]);
    expect(await left.text()).toContain("You are unsubscribed from Product news");
    expect(await chosen()).toMatchObject({ "Product news": false, Offers: true });
    expect(await status()).toBe("subscribed");
    // The topic is left, so the link shows what remains.
    expect(await (await fetch(link)).text()).toContain("Your email preferences");
  });

  test("takes and shows the choices as JSON, and refuses a topic of another site", async () => {
    const [reader, other] = [
      await sendNewsletter(service, { topics }),
      await sendNewsletter(service, { topics }),
    ];
    const json = { "content-type": "application/json" };
    const choose = async (choices: object[]) =>
      post(
        reader.unsubscribePageUrl,
        json,
        JSON.stringify({ action: "choose_topics", topics: choices }),
      );
    const read = async (link: string) =>
      (await (await fetch(link, { headers: { accept: "application/json" } })).json()) as {
        data: { topicId: number; topics: { id: number }[] };
      };
    const ofOther = await read(other.unsubscribePageUrl);
    const foreign = await choose([{ id: ofOther.data.topicId, subscribed: false }]);
    expect(foreign.status).toBe(400);
    const own = await read(reader.unsubscribePageUrl);
    const answer = await choose([{ id: own.data.topics[1]!.id, subscribed: false }]);
    expect(await answer.json()).toMatchObject({
      data: { state: "subscribed", topics: [{ subscribed: true }, { subscribed: false }, {}] },
    });
  });
});

const withoutIds = (tag: string): string =>
  tag.replace(/ (id|value)="[^"]*"/g, "").replace(/(aria-describedby)="[^"]*"/, "$1");

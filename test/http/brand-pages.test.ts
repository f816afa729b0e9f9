// The pages and emails of the service that contacts of a site see have its brand.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LocalService } from "../../infra/local/service.ts";
import { expectStatus, type TestClient, waitForMail } from "../support/api-client.ts";
import { sendNewsletter, startNewsletterService } from "../support/newsletters.ts";

let service: LocalService;
beforeAll(async () => {
  service = await startNewsletterService();
});
afterAll(() => service.stop());

const brand = {
  logo: { url: "https://cdn.shop.example:8443/logo.png", alt: 'The "Shop"', width: 120 },
  colors: { accent: "#aa1155", background: "#fdf2f6", surface: "#fffdfe", text: "#2a1520" },
  font: "georgia",
  corners: "round",
  socialLinks: [{ name: "Mastodon & more", url: "https://social.example/@shop?a=1&b=2" }],
  footerText: "Shop Ltd <London>\nCompany 1234",
  language: "de",
};
const setBrand = async ({ call, siteId }: TestClient, value: object | null = brand) =>
  expectStatus(200, await call("PUT", `/sites/${siteId}`, { brand: value }));

interface Page {
  status: number;
  text: string;
  policy: string;
  frames: string | null;
}
async function open(url: string, init: RequestInit = {}): Promise<Page> {
  const answer = await fetch(url, init);
  return {
    status: answer.status,
    text: await answer.text(),
    policy: answer.headers.get("content-security-policy") ?? "",
    frames: answer.headers.get("x-frame-options"),
  };
}

function expectBranded({ text, policy }: Page) {
  expect(text).toContain("font-family: Georgia, 'Times New Roman', serif");
  expect(text).toContain("--page: light-dark(#fdf2f6, #121316)");
  expect(text).toContain("--sheet: light-dark(#fffdfe, #1d1e22)");
  expect(text).toMatch(
    /<img src="https:\/\/cdn\.shop\.example:8443\/logo\.png" alt="The &quot;Shop&quot;" width="120"/,
  );
  expect(text).toContain(
    '<a href="https://social.example/@shop?a=1&amp;b=2">Mastodon &amp; more</a>',
  );
  expect(text).toContain("Shop Ltd &lt;London&gt;<br>Company 1234");
  expect(policy).toContain("img-src https://cdn.shop.example:8443 'self' data:;");
}

test("the unsubscribe and preference pages have the brand and its language", async () => {
  const { client, unsubscribePageUrl } = await sendNewsletter(service);
  const plain = await open(unsubscribePageUrl);
  expect([plain.policy, plain.text]).not.toContain(expect.stringContaining("cdn.shop.example"));
  await setBrand(client);
  for (const url of [unsubscribePageUrl, `${unsubscribePageUrl}?view=preferences`]) {
    const page = await open(url);
    expectBranded(page);
    expect([page.status, page.frames]).toEqual([200, "DENY"]);
    expect(page.text).toContain('<html lang="de" dir="ltr">');
  }
  const french = await open(unsubscribePageUrl, { headers: { "accept-language": "fr" } });
  expect(french.text).toContain('<html lang="fr" dir="ltr">');
  const state = await open(unsubscribePageUrl, { headers: { accept: "application/json" } });
  expect(Object.keys(JSON.parse(state.text).data)).not.toContain("brand");
});

test("a form, its pages, its email and the page of its link have the brand", async () => {
  const { client } = await sendNewsletter(service);
  const { call } = client;
  await setBrand(client);
  const configs = await call<{ sendingConfigs: { id: number }[] }>("GET", "/sending-configs");
  const { id: configId } = configs.body.data.sendingConfigs[0]!;
  expectStatus(200, await call("POST", `/sending-configs/${configId}/verify`));
  const { id } = expectStatus(
    201,
    await call<{ id: number }>("POST", "/forms", { name: "News", doubleOptIn: true }),
  ).body.data;
  const api = `${service.url}/api/v1`;
  const form = await open(`${api}/forms/${id}/page`);
  expectBranded(form);
  expect(form.policy).toContain("frame-ancestors *");
  expect(form.text).toContain('style="background:#aa1155;color:#ffffff"');
  const embedded = await open(`${api}/forms/${id}/embed?format=html`);
  expect(embedded.text).toContain('style="background:#aa1155;color:#ffffff"');
  const email = `ann-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const inbox = await open(`${api}/forms/${id}/submit`, {
    method: "POST",
    headers: { accept: "text/html", "content-type": "application/x-www-form-urlencoded" },
    body: String(new URLSearchParams({ email })),
  });
  expectBranded(inbox);
  const mail = await waitForMail(email, service.url);
  expect(mail.html).toContain('<html lang="de"');
  expect(mail.html).toContain("background:#aa1155;color:#ffffff");
  expect(mail.html).toContain("font:16px/1.5 Georgia");
  expect(mail.html).toContain('<img src="https://cdn.shop.example:8443/logo.png"');
  expect(mail.html).toContain("Shop Ltd &lt;London&gt;<br>Company 1234");
  expect(mail.text).toMatch(/Shop Ltd <London>\nCompany 1234\n$/);
  const [link = ""] = /http:\S+\/forms\/confirm\/[\w-]+/.exec(mail.text ?? "") ?? [];
  expectBranded(await open(link));
  const confirmed = await open(link, { method: "POST" });
  expectBranded(confirmed);
  expect(confirmed.frames).toBe("DENY");
});

test.each(["a.example;script-src *", "a.example, b.example"])(
  "a logo on the host %s is refused, because it would change the policy of pages",
  async (host) => {
    const { client } = await sendNewsletter(service);
    const url = `https://${host}/logo.png`;
    const refused = await client.call("PUT", `/sites/${client.siteId}`, {
      brand: { logo: { url } },
    });
    expect([refused.status, refused.body.details?.map(({ path }) => path)]).toEqual([
      400,
      ["brand.logo.url"],
    ]);
  },
);

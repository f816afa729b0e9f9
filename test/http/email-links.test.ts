// Links and pixels of emails that the service tracks itself: through each provider of the sandbox,
// from the click to the event.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { LocalService } from "../../infra/local/service.ts";
import { providerKeys } from "../../shared/providers/provider-keys.ts";
import { expectStatus, signedUp, type TestClient, waitForMail } from "../support/api-client.ts";
import { createSendingConfig, startNewsletterService } from "../support/newsletters.ts";
import { waitFor } from "../support/wait-for.ts";

let service: LocalService;
let client: TestClient;
beforeAll(async () => {
  service = await startNewsletterService();
});
// Each organization has a rate limit of its own.
beforeEach(async () => {
  client = await signedUp({ service: service.url });
});
afterAll(() => service.stop());

const browser = {
  "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
};
const follow = (url: string, init: RequestInit = {}) =>
  fetch(url, { headers: browser, redirect: "manual", ...init });

async function createOwnConfig(provider: string): Promise<number> {
  const id = await createSendingConfig(client, service.url, provider);
  const changed = expectStatus(
    200,
    await client.call<{ tracking: string }>("PUT", `/sending-configs/${id}`, { tracking: "own" }),
  ).body.data;
  expect(changed.tracking).toBe("own");
  return id;
}

interface Mailed {
  sendId: number;
  links: string[];
  pixel: string;
}
let readers = 0;

/** Sends a batch, and reads what its recipients got. */
async function sendTracked(configId: number, html: string, n = 2): Promise<Mailed[]> {
  const recipients = Array.from({ length: n }, (_, i) => ({
    to: `reader${++readers}@example.com`,
    variables: { id: `${i} & ü`, items: ["a", "b"] },
  }));
  const { results } = expectStatus(
    202,
    await client.call<{ results: { id: number }[] }>("POST", "/send/batch", {
      sendingConfigId: configId,
      subject: "Sale",
      html,
      recipients,
    }),
  ).body.data;
  return Promise.all(
    recipients.map(async ({ to }, i) => {
      const mail = await waitForMail(to, service.url);
      const shown = mail.html ?? "";
      return {
        sendId: results[i]!.id,
        links: [...shown.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!),
        pixel: /<img src="([^"]*\/t\/[\w-]+\/open\.gif)"/.exec(shown)?.[1] ?? "",
      };
    }),
  );
}

interface Event {
  type: string;
  sendId: number;
  data: { url?: string };
  automated: boolean;
}
const readEvents = async (sendId: number): Promise<Event[]> =>
  expectStatus(200, await client.call<{ events: Event[] }>("GET", `/sends/${sendId}`)).body.data
    .events;
const waitForEvents = (sendId: number, type: string, n: number): Promise<Event[]> =>
  waitFor(async () => {
    const events = (await readEvents(sendId)).filter((event) => event.type === type);
    expect(events).toHaveLength(n);
    return events;
  });

const html =
  '<p><a href="https://shop.example/sale?a=1&amp;b=%20%zz&amp;c=ü#top">Sale</a>' +
  '<a href="https://shop.example/me?id={{ id }}">You</a>' +
  '{% for item in items %}<a href="https://shop.example/{{ item }}">{{ item }}</a>{% endfor %}' +
  '<a href="tel:+441234">Call</a></p>';

test.each(providerKeys)(
  "a click in an email of %s redirects and becomes an event",
  async (provider) => {
    const mails = await sendTracked(await createOwnConfig(provider), html);
    for (const [i, { sendId, links, pixel }] of mails.entries()) {
      const [sale, you, a, b, phone] = links;
      expect(phone).toBe("tel:+441234");
      const answers = await Promise.all([sale, you, a, b].map((url) => follow(url!)));
      expect(answers.map(({ status, headers }) => [status, headers.get("location")])).toEqual([
        [302, "https://shop.example/sale?a=1&b=%20%zz&c=%C3%BC#top"],
        [302, `https://shop.example/me?id=${i}%20&%20%C3%BC`],
        [302, "https://shop.example/a"],
        [302, "https://shop.example/b"],
      ]);
      const image = await follow(pixel);
      expect([image.status, image.headers.get("content-type")]).toEqual([200, "image/gif"]);
      const clicks = await waitForEvents(sendId, "click", 4);
      expect(clicks.map(({ data }) => data.url).toSorted()).toEqual([
        "https://shop.example/a",
        "https://shop.example/b",
        `https://shop.example/me?id=${i} & ü`,
        "https://shop.example/sale?a=1&b=%20%zz&c=ü#top",
      ]);
      // Four links at once.
      expect(clicks.every(({ automated }) => automated)).toBe(true);
      const [open] = await waitForEvents(sendId, "open", 1);
      expect(open?.automated).toBe(false);
    }
  },
);

describe("a link", () => {
  test("is not stored by caches and not listed, and HEAD is a click of a machine", async () => {
    const [mail] = await sendTracked(
      // It reports no delivery, soon after which a click counts as one of a machine.
      await createOwnConfig("smtp"),
      '<a href="https://shop.example/">Shop</a>',
      1,
    );
    const { sendId, links, pixel } = mail!;
    for (const url of [links[0]!, pixel]) {
      const { status, headers } = await follow(url, { method: "HEAD" });
      expect([status, headers.get("cache-control"), headers.get("x-robots-tag")]).toEqual([
        url === pixel ? 200 : 302,
        "no-store",
        "noindex",
      ]);
    }
    const [byMachine] = await waitForEvents(sendId, "click", 1);
    expect(byMachine?.automated).toBe(true);
    await follow(links[0]!);
    const clicks = await waitForEvents(sendId, "click", 2);
    expect(clicks.map(({ automated }) => automated).toSorted()).toEqual([false, true]);
  });

  test.each([
    "x/y",
    "x/open.gif",
    `${"A".repeat(80)}/${"A".repeat(80)}`,
    `x/${"A".repeat(3000)}`,
    "é/é",
  ])("that is forged shows a page and leads nowhere (%#)", async (path) => {
    const response = await follow(`${service.url}/t/${path}`, {
      headers: { ...browser, accept: "text/html" },
    });
    expect(response.status).toBe(404);
    expect(response.headers.get("location")).toBeNull();
    expect(response.headers.get("content-type")).toContain("text/html");
  });

  test("to the page that unsubscribes stays as it is", async () => {
    const configId = await createOwnConfig("resend");
    const [mail] = await sendTracked(
      configId,
      `<a href="${service.url}/api/v1/unsubscribe/x">Leave</a>` +
        `<a href="${service.url}/view/x">View</a><a href="${service.url}/archive/1">Archive</a>`,
      1,
    );
    expect(mail!.links).toEqual([
      `${service.url}/api/v1/unsubscribe/x`,
      `${service.url}/view/x`,
      expect.stringContaining("/t/"),
    ]);
  });
});

test("SMTP reports nothing, so its email has tracking of our own by default", async () => {
  const smtp = await createSendingConfig(client, service.url, "smtp");
  const { tracking } = expectStatus(
    200,
    await client.call<{ tracking: string }>("GET", `/sending-configs/${smtp}`),
  ).body.data;
  expect(tracking).toBe("own");
  const refused = await client.call("PUT", `/sending-configs/${smtp}`, { tracking: "theirs" });
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    400,
    expect.stringContaining("tracking"),
  ]);
});

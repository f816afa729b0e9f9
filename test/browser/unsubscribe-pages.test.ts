// Unsubscribing in a real browser: the link in the footer of a mail and its page, without script.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { LocalService } from "../../infra/local/service.ts";
import { expectStatus } from "../support/api-client.ts";
import {
  axePageOptions,
  desk,
  findAccessibilityIssues,
  launchBrowser,
  openPage,
  phone,
  savePicture,
  screenVariantsOf,
} from "../support/browser-pages.ts";
import {
  type NewsletterOptions,
  type NewsletterReader,
  sendNewsletter,
  startNewsletterService,
} from "../support/newsletters.ts";

const longEmail = `a-rather-long-name-of-ann@${"mail.".repeat(20)}example.com`;

const topics = [
  { name: "Product news", description: "What is new in the shop, once a month" },
  {
    name: "Offers",
    description: "Sales and discounts, about twice a week",
    defaultSubscription: "unsubscribed" as const,
  },
  { name: "Events" },
];
const manyTopics = Array.from({ length: 12 }, (_, i) => ({
  name: i ? `Topic ${i}` : "Donaudampfschifffahrtsgesellschaft".repeat(2),
  description: i % 3 ? null : "What it is about, in a sentence that is longer than one line of it",
}));

describe.skipIf(!inject("chromium"))("the page of an unsubscribe link", () => {
  let browser: Browser;
  let service: LocalService;
  beforeAll(async () => {
    [browser, service] = await Promise.all([launchBrowser(), startNewsletterService()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const titled = (page: Page, name: string) =>
    page.getByRole("heading", { level: 1, name }).waitFor();

  it("unsubscribes and resubscribes by keyboard alone, starting from the mail", async () => {
    const { mail, status } = await sendNewsletter(service);
    const page = await openPage(browser, "about:blank");
    await page.setContent(mail.html!);
    await page.getByRole("link", { name: "Unsubscribe" }).press("Enter");
    await titled(page, "Unsubscribe?");
    expect(await status()).toBe("subscribed");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await titled(page, "You are unsubscribed");
    expect(await status()).toBe("unsubscribed");
    await page.reload();
    await titled(page, "You are unsubscribed");
    await page.getByRole("button", { name: "Subscribe again" }).click();
    await titled(page, "Welcome back");
    expect(await status()).toBe("subscribed");
    await page.context().close();
  });

  it("leaves one topic and chooses others by keyboard alone, starting from the mail", async () => {
    const { mail, status, chosen } = await sendNewsletter(service, { topics });
    const page = await openPage(browser, "about:blank");
    await page.setContent(mail.html!);
    await page.getByRole("link", { name: "Email preferences" }).press("Enter");
    await titled(page, "Your email preferences");
    expect(await chosen()).toEqual({ "Product news": true, Offers: false, Events: true });
    await page.getByRole("button", { name: "Unsubscribe from Product news" }).press("Enter");
    await titled(page, "You are unsubscribed from Product news");
    expect(await chosen()).toEqual({ "Product news": false, Offers: false, Events: true });
    const boxes = page.getByRole("group", { name: "Emails that you can choose" });
    await boxes.getByRole("checkbox", { name: "Offers" }).press("Space");
    await boxes.getByRole("checkbox", { name: "Events" }).press("Space");
    await page.getByRole("button", { name: "Save choices" }).press("Enter");
    await titled(page, "Your choices are saved");
    expect(await chosen()).toEqual({ "Product news": false, Offers: true, Events: false });
    expect(await status()).toBe("subscribed");
    await page.getByRole("button", { name: "Unsubscribe from everything" }).press("Enter");
    await titled(page, "You are unsubscribed");
    await page.getByRole("button", { name: "Subscribe again" }).press("Enter");
    await titled(page, "Welcome back");
    expect(await chosen()).toEqual({ "Product news": false, Offers: true, Events: false });
    await page.context().close();
  });

  it("loads no other resources and stores nothing", async () => {
    const { unsubscribePageUrl: link } = await sendNewsletter(service);
    const page = await openPage(browser, "about:blank");
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(link);
    expect(requests.filter((url) => !url.startsWith("data:"))).toEqual([link]);
    expect(await page.context().cookies()).toEqual([]);
    await page.context().close();
  });

  const openPreferences = (page: Page) =>
    page.getByRole("link", { name: "Ihre E-Mail-Einstellungen" }).click();
  const goToPreferences = (page: Page, { unsubscribePageUrl: link }: NewsletterReader) =>
    page.goto(`${link}?view=preferences`);

  /** The states of the page, and how a reader reaches them. */
  const states: [
    name: string,
    lead: (page: Page, one: NewsletterReader) => Promise<unknown>,
    title: string,
    options?: NewsletterOptions,
  ][] = [
    ["ask", async () => {}, "Abmelden?"],
    ["out", (page) => page.getByRole("button").click(), "Sie sind abgemeldet"],
    [
      "all",
      async (page) => {
        await page.getByRole("button").click();
        await page
          .getByRole("button", { name: "Von allen E-Mails dieses Absenders abmelden" })
          .click();
        await page.getByText("von keiner Website dieses Absenders").waitFor();
      },
      "Sie sind abgemeldet",
    ],
    [
      "back",
      async (page) => {
        await page.getByRole("button").click();
        await page.getByRole("button", { name: "Wieder anmelden" }).click();
      },
      "Schön, dass Sie wieder da sind",
    ],
    [
      "suppressed",
      async (page, { client, email }) => {
        expectStatus(201, await client.call("POST", "/suppressions", { email }));
        await page.reload();
      },
      "Diese Adresse erhält keine E-Mails",
    ],
    ["ask-topic", async () => {}, "Abmelden?", { topics }],
    ["preferences", openPreferences, "Ihre E-Mail-Einstellungen", { topics }],
    ["preferences-without-topics", goToPreferences, "Ihre E-Mail-Einstellungen"],
    [
      "left-topic",
      (page) => page.getByRole("button", { name: "Product news abbestellen" }).click(),
      "Product news ist abbestellt",
      { topics },
    ],
    [
      "many-topics",
      async (page) => {
        await openPreferences(page);
        await page.getByRole("button", { name: "Auswahl speichern" }).click();
      },
      "Ihre Auswahl ist gespeichert",
      { topics: manyTopics },
    ],
    [
      "invalid",
      (page, { unsubscribePageUrl: link }) => page.goto(link.slice(0, -9)),
      "Dieser Link funktioniert nicht",
    ],
  ];

  it.each(screenVariantsOf("unsubscribe pages"))(
    "has no accessibility issue in any state: %s, %s",
    async (place, colorScheme, size) => {
      const page = await openPage(browser, "about:blank", {
        ...size,
        ...axePageOptions,
        colorScheme,
        locale: "de-DE",
      });
      for (const [name, lead, title, options] of states) {
        const email = `${name}-${place}-${colorScheme}-${longEmail}`;
        const one = await sendNewsletter(service, { email, ...options });
        await page.goto(one.unsubscribePageUrl);
        await lead(page, one);
        await titled(page, title);
        await savePicture(page, `unsubscribe-${name}-${place}-${colorScheme}`);
        expect([name, await findAccessibilityIssues(page)]).toEqual([name, []]);
      }
      await page.context().close();
    },
  );

  it.each(Object.entries({ desk, phone }))(
    "the footer of the mail has no accessibility issue: %s",
    async (place, size) => {
      const html =
        '<html lang="en"><head><title>News</title></head><body style="background:#222;color:#eee"><h1>News</h1></body></html>';
      const { mail } = await sendNewsletter(service, { html, topics });
      const page = await openPage(browser, "about:blank", { ...size, ...axePageOptions });
      await page.setContent(mail.html!);
      await savePicture(page, `unsubscribe-footer-${place}`);
      // A mail needs no landmarks and no main heading.
      expect(
        (await findAccessibilityIssues(page)).filter(
          (one) => !/^(region|landmark|page-has-heading)/.test(one),
        ),
      ).toEqual([]);
      await page.context().close();
    },
  );
});

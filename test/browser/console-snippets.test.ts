// The snippets in the console: made, used in an email, changed, renamed and deleted.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { startingDesigns } from "../../shared/console/editors/visual/starting-designs.ts";
import { expectStatus } from "../support/api-client.ts";
import { launchBrowser } from "../support/browser-pages.ts";
import {
  accountWithContacts,
  chooseOption,
  judgeScreens,
  openSignedIn,
} from "../support/console-pages.ts";

const base = inject("baseUrl");
const exact = { exact: true } as const;

interface Snippet {
  id: number;
  version: number;
  html: string;
}
type Account = Awaited<ReturnType<typeof accountWithContacts>>;

const designOf = (key: string) => startingDesigns.find((start) => start.key === key)!.create();

async function createTemplate({ call, siteId }: Account, html: string, designJson?: object) {
  const template = { siteId, name: "Spring", subject: "News", html, designJson };
  const created = await call<{ id: number }>("POST", "/templates", template);
  return expectStatus(201, created).body.data.id;
}

async function createSnippet({ call, siteId }: Account, name: string, html: string, more = {}) {
  const created = await call<Snippet>("POST", "/snippets", { siteId, name, html, ...more });
  return expectStatus(201, created).body.data.id;
}

async function writeText(page: Page, text: string): Promise<void> {
  const box = page.getByRole("textbox", { name: "Text", exact: true });
  await box.click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(text);
  // Fields become chips.
  await box.getByText(text.split("{{")[0]!).waitFor();
}

async function writeHtml(page: Page, html: string): Promise<void> {
  const code = page.getByRole("textbox", { name: "HTML" });
  for (const key of ["ControlOrMeta+a", "Delete"]) await code.press(key);
  await page.keyboard.insertText(html);
}

describe.skipIf(!inject("chromium"))("the snippets in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
    // The first request builds the console.
    await fetch(`${base}/app`);
  });
  afterAll(() => browser?.close());

  it("a snippet is made, put into an email, changed, and changes the email", async () => {
    const account = await accountWithContacts(1);
    const templateId = await createTemplate(account, "<p>x</p>", designOf("empty"));
    const { email, call } = account;
    const { page, problems } = await openSignedIn(browser, { email, path: "/templates" });
    const list = page.getByRole("navigation", { name: "Templates" });
    await list.getByRole("link", { name: "Snippets" }).click();
    await page.getByText("No snippet yet").waitFor();
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("opening hours");
    await dialog.getByRole("button", { name: "Create snippet" }).click();
    await page.getByRole("heading", { name: "opening hours", exact: true }).waitFor();
    await writeText(page, "Open until 6, {{ firstName }}");
    await page.getByRole("tab", { name: "Preview" }).click();
    const frame = page.frameLocator("iframe");
    await frame.getByText("Open until 6, Person0").waitFor();
    await page.getByRole("button", { name: "Save snippet" }).click();
    await page.getByText("Version 2").waitFor();
    await page.getByRole("tab", { name: "Used by" }).click();
    await page.getByText("Nothing uses it yet").waitFor();

    await page.goto(`${base}/app/templates/${templateId}`);
    await page.getByRole("button", { name: "Add a block at the end" }).click();
    await page.getByRole("menuitem", { name: "Snippet" }).click();
    await chooseOption(page.getByRole("combobox", { name: "Snippet" }), "opening hours");
    await page.getByRole("button", { name: /^Snippet: Open until 6/ }).waitFor();
    await page.getByRole("button", { name: "Save template" }).click();
    await page.getByText("Saved", exact).waitFor();
    await page.getByRole("tab", { name: "Preview" }).click();
    await frame.getByText("Open until 6, Person0").waitFor();
    await page.getByRole("tab", { name: "Design" }).click();
    await page.getByRole("button", { name: /^Snippet: Open until 6/ }).click();
    await page.getByRole("link", { name: "Change the snippet" }).click();

    await page.getByRole("heading", { name: "opening hours", exact: true }).waitFor();
    await writeText(page, "Open until 8, {{ firstName }}");
    await page.keyboard.press("ControlOrMeta+s");
    await page.getByText("Version 3").waitFor();
    await page.getByRole("tab", { name: "Used by" }).click();
    await page.getByRole("link", { name: "Spring" }).click();
    await page.getByRole("button", { name: /^Snippet: Open until 8/ }).waitFor();
    await page.getByRole("tab", { name: "Preview" }).click();
    await frame.getByText("Open until 8, Person0").waitFor();
    const sent = await call<{ html: string }>("POST", `/templates/${templateId}/render`, {});
    expect(expectStatus(200, sent).body.data.html).toContain("Open until 8");
    expect(problems).toEqual([]);
  });

  it("one in use keeps its name; one that nothing uses is renamed, copied and deleted", async () => {
    const account = await accountWithContacts(1);
    const header = await createSnippet(account, "header", "<h1>Shop</h1>");
    const templateId = await createTemplate(account, "{% render 'header' %}");
    const { email, call } = account;
    const path = `/snippets/${header}`;
    const { page, problems } = await openSignedIn(browser, { email, path });
    const dialog = page.getByRole("dialog");
    const choose = async (action: string) => {
      await page.getByRole("button", { name: "More" }).click();
      await page.getByRole("menuitem", { name: action }).click();
    };
    for (const action of ["Rename snippet", "Delete snippet"]) {
      await choose(action);
      await dialog.getByText("It is in use").waitFor();
      await dialog.getByRole("link", { name: "Spring" }).waitFor();
      await dialog.getByRole("button", { name: "Close" }).last().click();
      await dialog.waitFor({ state: "detached" });
    }
    expectStatus(200, await call("DELETE", `/templates/${templateId}`));
    await writeHtml(page, "<h1>Store</h1>");
    await choose("Rename snippet");
    await dialog.getByLabel("Name").fill("top");
    await dialog.getByRole("button", { name: "Save name" }).click();
    await page.getByRole("heading", { name: "top", exact: true }).waitFor();
    await page.getByRole("button", { name: "Save snippet" }).click();
    await page.getByText("Version 3").waitFor();
    await choose("Copy snippet");
    await dialog.getByRole("button", { name: "Create copy" }).click();
    await page.getByRole("heading", { name: "Copy of top" }).waitFor();
    await choose("Delete snippet");
    await dialog.getByLabel(/to confirm/).fill("Copy of top");
    await dialog.getByRole("button", { name: "Delete snippet" }).click();
    await page.getByRole("heading", { name: "Snippets" }).waitFor();
    await page.getByLabel("Search snippets").fill("TO");
    await page.getByRole("row", { name: /top/ }).waitFor();
    await page.getByLabel("Search snippets").fill("copy");
    await page.getByText("No snippet matches").waitFor();
    expect(problems).toEqual([]);
  });

  it("code is edited with a preview, a version comes back, and a conflict asks", async () => {
    const account = await accountWithContacts(1);
    const id = await createSnippet(account, "sign", "<p>Bye</p>", { text: "Bye" });
    const { email, call } = account;
    const { page, problems } = await openSignedIn(browser, { email, path: "" });
    await page.getByRole("button", { name: /^Search/ }).click();
    await page.getByRole("dialog").getByRole("combobox").fill("sign");
    await page.getByRole("option", { name: "sign", exact: true }).click();
    const frame = page.frameLocator("iframe");
    await frame.getByText("Bye").waitFor();
    await writeHtml(page, "<p>See you, {{ firstName }}</p>");
    await frame.getByText("See you, Person0").waitFor();
    await page.getByRole("button", { name: "Save snippet" }).click();
    await page.getByText("Version 2").waitFor();
    await page.getByRole("tab", { name: "Versions" }).click();
    await page.getByRole("button", { name: "Restore version 1" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restore version 1" }).click();
    await page.getByText("Version 3").waitFor();
    await frame.getByText("Bye").waitFor();
    await writeHtml(page, "<p>Mine</p>");
    expectStatus(200, await call("PUT", `/snippets/${id}`, { html: "<p>Theirs</p>" }));
    await page.getByRole("button", { name: "Save snippet" }).click();
    await page.getByText("Somebody else has saved this since").waitFor();
    await page.getByRole("button", { name: "Save mine over theirs" }).click();
    await page.getByText("Version 5").waitFor();
    const { html } = expectStatus(200, await call<Snippet>("GET", `/snippets/${id}`)).body.data;
    expect(html).toBe("<p>Mine</p>");
    expect(problems.filter((problem) => !/status of 409/.test(problem))).toEqual([]);
  });

  it("its screens are accessible in every size and color scheme", async () => {
    const account = await accountWithContacts(1);
    const visual = await createSnippet(account, "header", "<h1>Shop</h1>", {
      designJson: designOf("announcement"),
    });
    const code = await createSnippet(account, "frame", "<main>{{ content }}</main>");
    await createTemplate(account, "{% render 'header' %}");
    const screens = [
      {
        path: "/snippets",
        ready: (page: Page) => page.getByRole("row", { name: /header/ }).waitFor(),
        open: async (page: Page) => {
          await page.getByRole("button", { name: "New snippet" }).click();
          await page.getByRole("dialog").getByLabel("Name").waitFor();
        },
      },
      {
        path: `/snippets/${visual}`,
        ready: (page: Page) => page.getByRole("textbox", { name: "Heading" }).first().waitFor(),
        open: async (page: Page) => {
          await page.getByRole("tab", { name: "Used by" }).click();
          await page.getByRole("link", { name: "Spring" }).waitFor();
        },
      },
      {
        path: `/snippets/${code}`,
        ready: (page: Page) =>
          page.frameLocator("iframe").getByText("The content of the email").waitFor(),
        open: async (page: Page) => {
          await page.getByRole("main").getByRole("button", { name: "More" }).click();
          await page.getByRole("menuitem", { name: "Rename snippet" }).click();
          await page.getByRole("dialog").getByLabel("Name").waitFor();
        },
      },
    ];
    expect(await judgeScreens(browser, { email: account.email, screens })).toEqual([]);
  });
});

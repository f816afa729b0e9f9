// Imports and the fields of contacts in the console, in a real browser, as people use them.
import { readFile } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus } from "../support/api-client.ts";
import { launchBrowser } from "../support/browser-pages.ts";
import {
  accountWithContacts,
  chooseOption,
  judgeScreens,
  openSignedIn,
  tabTo,
} from "../support/console-pages.ts";
import { waitFor } from "../support/wait-for.ts";

const exact = { exact: true } as const;

type Account = Awaited<ReturnType<typeof accountWithContacts>>;

const declareField = async ({ call }: Account, name: string, label: string, type = "text") =>
  expectStatus(200, await call("PUT", `/contact-fields/${name}`, { label, type }));

const csvFile = (name: string, lines: string[]) => ({
  name,
  mimeType: "text/csv",
  buffer: Buffer.from(lines.join("\n")),
});

/** Chooses a file with a button. */
async function chooseFile(
  page: Page,
  press: () => Promise<void>,
  file: ReturnType<typeof csvFile>,
): Promise<void> {
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), press()]);
  await chooser.setFiles(file);
}

/** Chooses what becomes of a column. */
const chooseField = (page: Page, column: string, field: string): Promise<void> =>
  chooseOption(page.getByRole("combobox", { name: `Field for ${column}`, exact: true }), field);

/** Drops a file where one can be dropped. */
async function dropFile(page: Page, { name, mimeType, buffer }: ReturnType<typeof csvFile>) {
  const dataTransfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    const file = new File([${JSON.stringify(String(buffer))}], "${name}", { type: "${mimeType}" });
    transfer.items.add(file);
    return transfer;
  })()`);
  const zone = page.getByRole("region", { name: "File" });
  for (const type of ["dragover", "drop"]) await zone.dispatchEvent(type, { dataTransfer });
}

const rowHeight = 44;

/** Number of rows of the long table that are in the document. */
const countDrawnRows = (page: Page) => page.locator("table.rows tr[data-index]").count();

describe.skipIf(!inject("chromium"))("imports in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it("a spreadsheet that is no CSV file is named as what it is", async () => {
    const { email } = await accountWithContacts(0);
    const path = "/contacts/import";
    const { page, problems } = await openSignedIn(browser, { email, path });
    const choose = async (name: string, bytes: number[]) => {
      const chooser = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: "Choose a file" }).click();
      await (await chooser).setFiles({ name, mimeType: "", buffer: Buffer.from(bytes) });
    };
    await choose("people.xlsx", [0x50, 0x4b, 3, 4, 20]);
    await page.getByText("This is an Excel file.").waitFor();
    await choose("people.csv", []);
    await page.getByText("The file is empty.").waitFor();
    expect(problems).toEqual([]);
  });

  it("a marketer imports 5,000 contacts, leaves the page, comes back and downloads the errors", async () => {
    const account = await accountWithContacts(0);
    await declareField(account, "plan", "Subscription plan");
    await declareField(account, "shoeSize", "Shoe size", "number");
    const { page, problems } = await openSignedIn(browser, {
      email: account.email,
      path: "/contacts",
    });
    await page.getByRole("button", { name: "Import" }).click();
    const rows = Array.from(
      { length: 5000 },
      (_, i) => `import${i}@shop.example,Gold,${i},n${i},43`,
    );
    const bad = "not an address,Silver,1,,";
    const file = csvFile("people.csv", ["Mail,Tariff,Visits,Notes,shoe size", bad, ...rows]);
    await page.getByRole("button", { name: "Choose a file" }).waitFor();
    await dropFile(page, file);
    await page.getByText("people.csv, 5,001 rows").waitFor();
    await chooseField(page, "Tariff", "Subscription plan");
    await chooseField(page, "Notes", "Leave out");
    await page.getByRole("columnheader", { name: "Notes" }).waitFor({ state: "detached" });
    await page.getByRole("columnheader", { name: "Subscription plan" }).waitFor();
    await page.getByText("1 row of the first 20 cannot be imported.").waitFor();
    // The label of a field leads to it, too.
    await page.getByRole("columnheader", { name: "Shoe size" }).waitFor();
    await page.getByRole("textbox", { name: "Name for Visits" }).fill("Visits so far");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("combobox", { name: "Tags for all of them" }).fill("autumn");
    await page.keyboard.press("Enter");
    const lists = page.getByRole("combobox", { name: "Lists for all of them" });
    await lists.fill("Autumn people");
    await page.getByRole("option", { name: "Make “Autumn people”" }).click();
    await page.getByText("Autumn people", { exact: true }).first().waitFor();
    // The import stays in its middle, however fast the service is.
    await page.route(/\/imports\/\d+$/, async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { data: object };
      const middle = { status: "running", total: 5001, processed: 2000, progress: 39 };
      await route.fulfill({ response, json: { ...body, data: { ...body.data, ...middle } } });
    });
    await page.getByRole("button", { name: "Import 5,001 rows" }).click();
    await page.getByText("2,000 of 5,001 rows").waitFor();
    await page.getByRole("progressbar", { name: "Imported rows in per cent" }).waitFor();
    await page.getByRole("link", { name: "Contacts" }).first().click();
    await page.unrouteAll({ behavior: "wait" });
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page
      .getByRole("table", { name: "Imports" })
      .getByRole("link", { name: "people.csv" })
      .click();
    await page.getByText("Completed", exact).waitFor();
    await page.getByText("5,001 rows read").waitFor();
    await page.getByRole("cell", { name: "not an address" }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download all of them" }).click(),
    ]);
    const errors = await readFile(await download.path(), "utf8");
    expect(errors).toMatch(/^row,email,message\r?\n2,not an address,email: /);
    await page.getByRole("button", { name: "Show them" }).click();
    const chosenTag = page.getByRole("combobox", { name: "Tag" });
    await chosenTag.and(page.locator("[value=autumn]")).waitFor();
    await page.locator("tr[data-index='0']").click();
    const panel = page.getByRole("complementary", { name: "Contact" });
    await panel.getByRole("tab", { name: "Details" }).click();
    await panel.getByText("Visits so far").waitFor();
    await panel.getByText("Gold", exact).waitFor();
    await panel.getByText("Shoe size", exact).waitFor();
    // Of the 5,000 contacts, only those in view are in the document, wherever the reader is.
    await page.getByRole("link", { name: "Contacts" }).first().click();
    await chosenTag.and(page.locator("[value='']")).waitFor();
    await page.getByText("5,000 contacts").waitFor();
    const table = page.getByRole("table", { name: "Contacts" });
    expect(await table.getAttribute("aria-rowcount")).toBe("5000");
    const box = page.locator(".main-table");
    for (const index of [50, 150, 250]) {
      // Further rows are read while the reader scrolls.
      await waitFor(async () => {
        await box.evaluate((element, top) => element.scrollTo(0, top), index * rowHeight);
        expect(await page.locator(`tr[data-index='${index}']`).count()).toBe(1);
      });
      expect(await countDrawnRows(page)).toBeLessThan(60);
    }
    expect(problems).toEqual([]);
  });

  it("rows are pasted, mapped and imported by keyboard only", async () => {
    const { email } = await accountWithContacts(0);
    const { page, problems } = await openSignedIn(browser, { email, path: "/contacts/import" });
    // A key is faster than the interception of choosers, which begins with the first listener.
    page.on("filechooser", () => {});
    await page.getByRole("button", { name: "Choose a file" }).waitFor();
    await tabTo(page, page.getByRole("button", { name: "Choose a file" }));
    const press = () => page.keyboard.press("Enter");
    await chooseFile(page, press, csvFile("no-address.csv", ["Who,City", "ann,Bonn"]));
    await page.getByText("Choose which column has the email addresses").waitFor();
    await tabTo(page, page.getByRole("button", { name: "Choose another file" }));
    await page.keyboard.press("Enter");
    await tabTo(page, page.getByLabel("Or paste rows"));
    await page.keyboard.insertText("Who\tCity\nann@shop.example\tBonn\nbob@shop.example\tKiel");
    await tabTo(page, page.getByRole("button", { name: "Use these rows" }));
    await page.keyboard.press("Enter");
    await page.getByText("The first 2 rows can be imported.").waitFor();
    await tabTo(page, page.getByRole("combobox", { name: "Field for City" }));
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.insertText("Company");
    await page.getByRole("option", { name: "Company", exact: true }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("columnheader", { name: "Company" }).waitFor();
    await tabTo(page, page.getByRole("button", { name: "Continue" }));
    await page.keyboard.press("Enter");
    await page.getByRole("combobox", { name: "What to do" }).waitFor();
    await tabTo(page, page.getByRole("button", { name: "Import 2 rows" }));
    await page.keyboard.press("Enter");
    await page.getByText("2 rows read").waitFor();
    await tabTo(page, page.getByRole("button", { name: "Show all contacts" }));
    await page.keyboard.press("Enter");
    await page.getByText("2 contacts").waitFor();
    expect(problems).toEqual([]);
  });

  it("a file with the columns of an earlier one is mapped as before", async () => {
    const { email } = await accountWithContacts(0);
    const { page } = await openSignedIn(browser, { email, path: "/contacts/import" });
    const importWith = async (address: string) => {
      const file = csvFile("monthly.csv", ["Mail,Shop,Town", `${address},North,Bonn`]);
      const button = page.getByRole("button", { name: "Choose a file" });
      await chooseFile(page, () => button.click(), file);
      await page.getByRole("heading", { name: "Preview" }).waitFor();
    };
    await importWith("ann@shop.example");
    await chooseField(page, "Shop", "Company");
    await page.getByRole("columnheader", { name: "Company" }).waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Import 1 row" }).click();
    await page.getByText("1 row read").waitFor();
    await page.getByRole("link", { name: "Import another file" }).click();
    await importWith("bob@shop.example");
    await page.getByRole("columnheader", { name: "Company" }).waitFor();
  });

  it("a column that may say who gets email needs an answer", async () => {
    const { email } = await accountWithContacts(0);
    const { page, problems } = await openSignedIn(browser, { email, path: "/contacts/import" });
    const lines = ["Mail,unsubscribed,GDPR", "ann@shop.example,,yes", "bob@shop.example,,no"];
    const button = page.getByRole("button", { name: "Choose a file" });
    await chooseFile(page, () => button.click(), csvFile("shop.csv", lines));
    await page.getByText("Does “GDPR” say who gets email and who does not?").waitFor();
    expect(await page.getByRole("button", { name: "Continue" }).isDisabled()).toBe(true);
    await chooseField(page, "GDPR", "Yes means subscribed");
    await page.getByRole("row", { name: /bob@shop\.example.*unsubscribed/ }).waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Import 2 rows" }).click();
    await page.getByText("2 rows read").waitFor();
    expect(problems).toEqual([]);
  });

  it("a field is created, filled in, used in a segment, renamed and deleted", async () => {
    const { email } = await accountWithContacts(3);
    const { page, problems } = await openSignedIn(browser, { email, path: "/groups/fields" });
    await page.getByRole("cell", { name: "First name" }).waitFor();
    await page.keyboard.press("c");
    await page.getByRole("textbox", { name: "Label" }).fill("Shoe size");
    await chooseOption(page.getByRole("combobox", { name: "Type" }), "Number");
    await page.getByText("{{ shoeSize }}").waitFor();
    await page.getByRole("button", { name: "Create field" }).click();
    const row = page.getByRole("row", { name: /shoeSize/ });
    await row.getByText("Number").waitFor();
    await page.getByRole("link", { name: "Contacts" }).first().click();
    await page.getByRole("heading", { name: "Contacts", exact: true }).waitFor();
    await page.locator("tr[data-index='0']").click();
    const panel = page.getByRole("complementary", { name: "Contact" });
    await panel.getByRole("tab", { name: "Details" }).click();
    await panel.getByRole("button", { name: "Edit fields" }).click();
    await panel.getByRole("spinbutton", { name: "Shoe size" }).fill("43");
    await panel.getByRole("button", { name: "Save contact" }).click();
    await panel.getByText("43", exact).waitFor();
    await page.getByRole("link", { name: "Segments" }).first().click();
    await page.getByRole("button", { name: "New segment" }).click();
    await page.getByLabel("Name", exact).fill("Big feet");
    await chooseOption(page.getByRole("combobox", { name: "Field" }), "Shoe size");
    await page.getByRole("spinbutton", { name: "Value of Shoe size" }).fill("44");
    const matches = page.getByRole("region", { name: "Contacts that match" });
    await matches.locator("strong").getByText("0", exact).waitFor();
    await page.getByRole("spinbutton", { name: "Value of Shoe size" }).fill("42");
    await matches.locator("strong").getByText("1", exact).waitFor();
    await page.getByRole("button", { name: "Create segment" }).click();
    await page.getByRole("heading", { name: "Big feet" }).waitFor();
    await page.getByRole("link", { name: "Lists and tags" }).first().click();
    await page.getByRole("link", { name: "Fields", exact: true }).click();
    await row.getByText("43", exact).waitFor();
    await row.click();
    await page.getByRole("textbox", { name: "Label" }).fill("EU size");
    await page.getByRole("button", { name: "Save field" }).click();
    await row.getByText("EU size").waitFor();
    await page.getByRole("button", { name: "Actions for shoeSize" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("link", { name: "Big feet" }).waitFor();
    expect(await dialog.getByRole("button", { name: "Delete field" }).isDisabled()).toBe(true);
    await dialog.getByLabel("Type EU size to confirm").fill("EU size");
    await dialog.getByRole("button", { name: "Delete field" }).click();
    await row.getByText("EU size").waitFor({ state: "detached" });
    await row.getByText("43", exact).waitFor();
    expect(problems).toEqual([]);
  });

  it("a template gets a field of the site by its label", async () => {
    const account = await accountWithContacts(0);
    await declareField(account, "shoeSize", "Shoe size", "number");
    const fields = { name: "Sizes", subject: "Your size", html: "<p>Hello</p>" };
    const created = await account.call<{ id: number }>("POST", "/templates", fields);
    const path = `/templates/${expectStatus(201, created).body.data.id}`;
    const { page, problems } = await openSignedIn(browser, { email: account.email, path });
    await page.getByText("Hello").first().waitFor();
    await page.getByRole("button", { name: "Insert a field", exact: true }).click();
    await page.getByRole("menuitem", { name: "Shoe size" }).click();
    await page.getByText("{{ shoeSize }}").first().waitFor();
    expect(problems).toEqual([]);
  });

  it("the screens have no accessibility issue", async () => {
    const account = await accountWithContacts(3);
    const lines = ["Email,Plan,Visits", "ann@shop.example,Gold,3", "nobody,,"];
    const raw = lines.join("\n");
    const headers = { "content-type": "text/csv" };
    const path = "/imports/upload?filename=people.csv";
    const started = await account.call<{ id: number }>("POST", path, undefined, { raw, headers });
    const { id } = expectStatus(202, started).body.data;
    const toColumns = async (page: Page) => {
      const button = page.getByRole("button", { name: "Choose a file" });
      await chooseFile(page, () => button.click(), csvFile("new.csv", lines));
      await page.getByText("1 row of the first 2 cannot be imported.").waitFor();
    };
    const screens = [
      {
        path: `/contacts/import?id=${id}`,
        ready: (page: Page) => page.getByText("2 rows read").waitFor(),
      },
      {
        path: "/contacts/import",
        ready: (page: Page) => page.getByRole("table", { name: "Imports" }).waitFor(),
      },
      { path: "/contacts/import", ready: toColumns },
      {
        path: "/groups/fields",
        ready: async (page: Page) => {
          await page.getByRole("row", { name: /Plan/ }).click();
          await page.getByText(/^No segment, .* uses it\.$/).waitFor();
        },
      },
      { path: "/groups/fields", ready: (page: Page) => page.getByText("Visits").waitFor() },
      {
        path: "/contacts/import",
        ready: async (page: Page) => {
          await toColumns(page);
          await page.getByRole("button", { name: "Continue" }).click();
          await page.getByRole("combobox", { name: "What to do" }).waitFor();
        },
      },
    ];
    expect(await judgeScreens(browser, { email: account.email, screens })).toEqual([]);
  });
});

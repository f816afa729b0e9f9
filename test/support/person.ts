// A person at the console, who knows what is on the screen and nothing else: names of buttons,
// labels of fields, and texts. Journeys are written in English; a German reads the same in German.
import type { Browser, Locator, Page, Response } from "playwright-core";
import { inject } from "vitest";
import { nextMinute } from "./api-client.ts";
import { axePageOptions, findAccessibilityIssues, phone, savePicture } from "./browser-pages.ts";
import { createSession, isTooWide, watchRequests } from "./console-pages.ts";
import { escapePattern, toGerman } from "./german-words.ts";
import { takePage } from "./page-pool.ts";

/** The form in which somebody uses the console. */
export interface ConsoleForm {
  size: "desk" | "phone";
  colorScheme: "light" | "dark";
  language: "English" | "German";
}

const sizes = ["desk", "phone"] as const;
const colorSchemes = ["light", "dark"] as const;
const languages = ["English", "German"] as const;
export const consoleForms: ConsoleForm[] = sizes.flatMap((size) =>
  colorSchemes.flatMap((colorScheme) =>
    languages.map((language) => ({ size, colorScheme, language })),
  ),
);

export const nameOfForm = ({ size, colorScheme, language }: ConsoleForm): string =>
  `${size}-${colorScheme}-${language}`.toLowerCase();

const wideDesk = { viewport: { width: 1440, height: 900 } };
/** Things that are pressed. */
const pressedRoles = ["button", "link", "menuitem", "tab", "option", "switch", "radio"] as const;
/** What the free plan allows in a minute, less than one screen needs. */
const callsPerMinute = 80;
/** Words that English sentences have and German ones do not. */
const englishWords = /\b(the|your|and|with|from|of|not|this|has|are|they|yet|who|you)\b/i;

/** Opens the console for a person. With `email`, the person is signed in already. */
export async function sitDown(
  browser: Browser,
  { form, story, email }: { form: ConsoleForm; story: string; email?: string },
): Promise<Person> {
  const page = await takePage(browser, {
    ...axePageOptions,
    ...(form.size === "phone" ? phone : wideDesk),
    ...(form.language === "German" && { locale: "de-DE", timezoneId: "Europe/Berlin" }),
    colorScheme: form.colorScheme,
    acceptDownloads: true,
    ...(email !== undefined && { cookies: [await createSession(email)] }),
  });
  return new Person(page, form, story);
}

export class Person {
  readonly page: Page;
  readonly form: ConsoleForm;
  /** What is wrong with what the person saw. */
  readonly complaints: string[] = [];
  readonly #story: string;
  readonly #settled: () => Promise<void>;
  #views = 0;
  #calls = 0;
  /** Whether an answer such as "wrong key" is part of the story. */
  #expectsRefusal = false;
  /** The words of others: in quotes, and those of mail servers. */
  #others = /„.*“|smtp;.*/g;

  constructor(page: Page, form: ConsoleForm, story: string) {
    this.page = page;
    this.form = form;
    this.#story = story;
    this.#settled = watchRequests(page);
    page.on("pageerror", ({ message }) => this.complaints.push(message));
    page.on("console", (message) => {
      // The browser repeats each answer that is an error.
      if (message.type() === "error" && !/Failed to load resource/.test(message.text()))
        this.complaints.push(message.text());
    });
    page.on("response", (response) => this.#judgeAnswer(response));
  }

  #judgeAnswer(response: Response): void {
    const status = response.status();
    const { pathname } = new URL(response.url());
    if (pathname.startsWith("/api/v1/")) this.#calls++;
    // A visitor without a session is asked to sign in. The console repeats what exceeds its rate.
    const isExpected = this.#expectsRefusal || status === 401 || status === 429;
    if (status >= 400 && !isExpected)
      this.complaints.push(`${response.request().method()} ${pathname}: ${status}`);
  }

  /** What the person reads where an English reader reads this. `…` stands for any text. */
  reads(english: string): string | RegExp {
    const translate = (text: string) => (this.form.language === "German" ? toGerman(text) : text);
    const whole = translate(english);
    if (!english.includes("…")) return whole;
    const parts = (whole === english ? english : whole).split("…");
    const read = parts.map((part) => escapePattern(whole === english ? translatePart(part) : part));
    return new RegExp(`^${read.join(".*")}$`, "s");

    function translatePart(part: string): string {
      const [, before = "", words = "", after = ""] = /^(\s*)(.*?)(\s*)$/s.exec(part)!;
      return before + (words && translate(words)) + after;
    }
  }

  async open(path: string): Promise<void> {
    await this.page.goto(path.startsWith("http") ? path : `${inject("baseUrl")}/app${path}`);
  }

  /** Opens a screen by the navigation, which has a menu for some of them on a phone. */
  async goTo(screen: string): Promise<void> {
    await this.#breathe();
    const name = this.reads(screen);
    const isPhone = this.form.size === "phone";
    const bar = this.page.getByRole("navigation", {
      name: this.reads(isPhone ? "Main, short" : "Main"),
      exact: true,
    });
    // Every navigation has it.
    await this.#named("Home", bar).waitFor();
    const link = bar.getByRole("link", { name, exact: true });
    if (isPhone && (await link.count()) === 0) {
      await this.press("More", bar);
      await this.page.getByRole("menuitem", { name, exact: true }).click();
    } else await link.click();
    await this.page.getByRole("heading", { name, level: 1 }).waitFor();
  }

  /** Presses what has this name: a button, a link, a tab, a choice. */
  async press(name: string, place: Page | Locator = this.page): Promise<void> {
    await this.#breathe();
    await this.#named(name, place).click();
  }

  /** Presses a text that is no button: a row of a table, one of the choices in a bar. */
  async pick(text: string, place: Page | Locator = this.page): Promise<void> {
    await this.#breathe();
    await place
      .getByText(this.reads(text), { exact: true })
      .filter({ visible: true })
      .first()
      .click();
  }

  /** Presses a button of the open dialog. */
  async confirm(name: string): Promise<void> {
    await this.press(name, this.dialog());
  }

  dialog(): Locator {
    return this.page.getByRole("dialog").last();
  }

  #named(name: string, place: Page | Locator): Locator {
    const read = this.reads(name);
    const [first, ...others] = pressedRoles.map((role) =>
      place.getByRole(role, { name: read, exact: true }),
    );
    return others
      .reduce((all, one) => all.or(one), first!)
      .filter({ visible: true })
      .first();
  }

  /** The field with this label. */
  field(label: string): Locator {
    const name = { name: this.reads(label), exact: true };
    return this.page
      .getByRole("textbox", name)
      .or(this.page.getByRole("searchbox", name))
      .or(this.page.getByRole("spinbutton", name))
      .or(this.page.getByRole("combobox", name))
      .or(this.page.getByLabel(name.name, { exact: true }).and(this.page.locator("input")))
      .filter({ visible: true })
      .last();
  }

  async write(label: string, text: string): Promise<void> {
    await this.#breathe();
    await this.field(label).fill(text);
  }

  /** Chooses from a box, whose choices are opened by keyboard. */
  async choose(label: string, option: string): Promise<void> {
    await this.#breathe();
    const box = this.page
      .getByRole("combobox", { name: this.reads(label), exact: true })
      .filter({ visible: true })
      .last();
    await box.press("ArrowDown");
    await this.page
      .getByRole("option", { name: this.reads(option), exact: true })
      .first()
      .click();
  }

  /** Gives a file to the button that asks for it. */
  async give(
    button: string,
    file: { name: string; mimeType: string; content: string | Uint8Array },
  ): Promise<void> {
    const asked = this.page.waitForEvent("filechooser");
    await this.press(button);
    const { name, mimeType, content } = file;
    await (await asked).setFiles({ name, mimeType, buffer: Buffer.from(content) });
  }

  /** Waits until the person sees a text. */
  async sees(text: string, place: Page | Locator = this.page): Promise<void> {
    await place.getByText(this.reads(text)).filter({ visible: true }).first().waitFor();
  }

  async seesHeading(text: string): Promise<void> {
    await this.page
      .getByRole("heading", { name: this.reads(text), exact: true })
      .first()
      .waitFor();
  }

  /** Accepts a text in another language, such as that of an email. */
  knows(text: string): void {
    this.#others = new RegExp(`${this.#others.source}|${escapePattern(text)}`, "g");
  }

  /** Does something that the service refuses. */
  async isRefused(act: () => Promise<void>): Promise<void> {
    this.#expectsRefusal = true;
    await act();
    this.#expectsRefusal = false;
  }

  async signOut(): Promise<void> {
    if (this.form.size === "phone") {
      const bar = this.page.getByRole("navigation", { name: this.reads("Main, short") });
      await this.press("More", bar);
    }
    await this.press("Sign out");
    await this.seesHeading("Sign in");
  }

  /** Looks around: complains about all that a person would not want to see on this screen. */
  async looks(view: string): Promise<void> {
    await this.#settled();
    await this.takesPicture(view);
    const issues = await findAccessibilityIssues(this.page);
    if (await isTooWide(this.page)) issues.push("is wider than the screen");
    this.complaints.push(
      ...[...issues, ...(await this.#findEnglish())].map((issue) => `${view}: ${issue}`),
    );
  }

  /** Saves a picture if PICTURES names a folder. */
  async takesPicture(view: string): Promise<void> {
    const name = `${String(++this.#views).padStart(2, "0")}-${view.replaceAll(/\W+/g, "-")}`;
    if (process.env.PICTURES) await this.#showAll();
    await savePicture(this.page, `${this.#story}/${nameOfForm(this.form)}/${name}`);
  }

  /** Makes the window as high as its content, which is scrolled within the window. */
  async #showAll(): Promise<void> {
    const { width, height } = this.page.viewportSize()!;
    const hidden = await this.page.evaluate<number>(
      `[...document.querySelectorAll("main, [role=dialog]")].reduce(
        (most, one) => Math.max(most, one.scrollHeight - one.clientHeight), 0)`,
    );
    if (hidden > 0) await this.page.setViewportSize({ width, height: height + hidden });
  }

  /** Sentences of the console that a German does not understand. */
  async #findEnglish(): Promise<string[]> {
    if (this.form.language === "English") return [];
    const text = await this.page.evaluate<string>(
      `[...document.querySelectorAll("main, [role=dialog], nav")].map((one) => one.innerText)
        .join("\\n")`,
    );
    return text
      .split("\n")
      .filter((line) => englishWords.test(line.replaceAll(this.#others, "")))
      .map((line) => `is English: ${line}`);
  }

  /** A person is slower than the rate limit of the free plan. */
  async #breathe(): Promise<void> {
    if (this.#calls < callsPerMinute) return;
    this.#calls = 0;
    await nextMinute(inject("baseUrl"));
  }
}

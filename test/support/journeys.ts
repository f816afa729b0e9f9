// A journey: what somebody wants from the console, from the first press to the last. It is played
// in one form by the seed, and in all eight in `npm run test:all` or with JOURNEY_FORMS=all.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus, signedUp, type TestClient } from "./api-client.ts";
import { launchBrowser } from "./browser-pages.ts";
import { readSandbox } from "./console-pages.ts";
import { type ConsoleForm, consoleForms, nameOfForm, type Person, sitDown } from "./person.ts";
import { sampleOf } from "./seeded-random.ts";

/** The forms that JOURNEY_FORMS names, such as `phone-dark-german`, or those of the sample. */
function formsOf(title: string): ConsoleForm[] {
  const named = process.env.JOURNEY_FORMS;
  if (!named) return sampleOf(1, consoleForms, `journey ${title}`);
  return consoleForms.filter(
    (form) => named === "all" || named.split(",").includes(nameOfForm(form)),
  );
}

interface Journey {
  /** Seats somebody at the console. With `email`, the person is signed in already. */
  someone(email?: string): Promise<Person>;
}

/** Plays a journey. It fails if anybody in it has a complaint. */
export function journey(title: string, play: (journey: Journey) => Promise<void>): void {
  describe.skipIf(!inject("chromium"))(title, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchBrowser();
      // The first request builds the console.
      await fetch(`${inject("baseUrl")}/app`);
    });
    afterAll(() => browser?.close());

    it.each(formsOf(title).map((form) => [nameOfForm(form), form] as const))(
      "%s",
      async (_, form) => {
        const people: Person[] = [];
        const someone = async (email?: string) => {
          const story = title.replaceAll(/\W+/g, "-").toLowerCase();
          const person = await sitDown(browser, {
            form,
            story,
            ...(email !== undefined && { email }),
          });
          people.push(person);
          return person;
        };
        await play({ someone }).catch(async (error) => {
          for (const person of people) await person.takesPicture("failed");
          throw error;
        });
        expect(people.flatMap(({ complaints }) => complaints)).toEqual([]);
      },
    );
  });
}

export interface Shop extends TestClient {
  /** Id of the sender. */
  configId: number;
}

const asSession = { as: "session" } as const;

/** An account that may send, with a sender that reports, and these contacts. */
export async function openShop(contacts: object[] = []): Promise<Shop> {
  const client = await signedUp();
  const { call, siteId } = client;
  expectStatus(200, await call("PUT", "/settings/org", { name: "Harbour Ltd" }, asSession));
  const { credentials, webhookSecret } = (await readSandbox()).postmark;
  const config = { provider: "postmark", credentials, webhookSecret };
  const sender = { ...config, fromEmail: "hello@harbour.example", fromName: "Harbour" };
  const added = await call<{ id: number }>("POST", "/sending-configs", sender);
  const { id: configId } = expectStatus(201, added).body.data;
  expectStatus(200, await call("POST", `/sending-configs/${configId}/verify`));
  expectStatus(200, await call("PUT", "/compliance", { physicalAddress: "1 Quay Street" }));
  if (contacts.length > 0)
    expectStatus(200, await call("POST", "/contacts/bulk", { siteId, contacts }));
  return { ...client, configId };
}

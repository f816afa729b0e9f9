// A form with double opt-in on a page of the shop, and a visitor who fills it in.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { uniqueEmail, waitForMail } from "../../support/api-client.ts";
import { journey, openShop } from "../../support/journeys.ts";
import { runUntilIdle } from "../../support/sending-client.ts";

/** A page of the shop with this line in it. Returns its address. */
async function openShopPage(line: string): Promise<string> {
  const server = createServer((_, answer) => {
    answer.setHeader("content-type", "text/html; charset=utf-8");
    answer.end(
      '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">' +
        `<title>Harbour</title><main><h1>Harbour</h1>${line}</main></html>`,
    );
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

journey("A sign-up form", async ({ someone }) => {
  const { email } = await openShop();
  const ann = await someone(email);
  await ann.open("/");
  await ann.goTo("Forms");
  await ann.sees("No form yet");
  await ann.looks("no form");
  await ann.press("Create a form");
  await ann.sees("Texts and colour");
  await ann.write("Name", "Baker's mail");
  await ann.choose("Status", "Active: takes submissions");
  await ann.write("Heading (optional)", "Bread by mail");
  await ann.write("Text of the button (optional)", "Join us");
  await ann.press("Save form");
  await ann.sees("Saved");
  await ann.looks("form");
  const line = await ann.page.getByText("<script").first().innerText();

  const visitor = await someone();
  await visitor.open(await openShopPage(line));
  await visitor.sees("Bread by mail");
  await visitor.looks("form on a page");
  const address = uniqueEmail();
  await visitor.page.getByRole("textbox").first().fill(address);
  await visitor.press("Join us");
  await visitor.looks("submitted");
  const { text } = await waitForMail(address);
  await visitor.open(/http:\S+\/confirm\S+/.exec(text ?? "")![0]);
  await visitor.looks("confirm");
  await visitor.press("Yes, confirm");
  await visitor.looks("confirmed");
  await runUntilIdle();
  await ann.goTo("Contacts");
  await ann.pick(address);
  await ann.sees("Gets campaigns and sequences.");
  await ann.press("Consent");
  await ann.looks("consent");
});

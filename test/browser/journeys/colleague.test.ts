// A colleague is invited, joins, gets a second factor, forgets the password and comes back.
import { Secret, TOTP } from "otpauth";
import { inject } from "vitest";
import { nextMinute, uniqueEmail, waitForMail } from "../../support/api-client.ts";
import { journey, openShop } from "../../support/journeys.ts";
import { readClockLead } from "../../support/service-clock.ts";
import { waitFor } from "../../support/wait-for.ts";

/** The link to this page in the newest mail. */
const readLink = (email: string, page: string): Promise<string> =>
  waitFor(async () => {
    const { text } = await waitForMail(email);
    const [, link] = new RegExp(`(http\\S+/${page}\\?token=\\w+)`).exec(text ?? "") ?? [];
    if (!link) throw new Error(`No mail leads to ${page}`);
    return link;
  });

/** A code counts once, so the next one is of another minute. */
async function newCode(key: string): Promise<string> {
  await nextMinute(inject("baseUrl"));
  const timestamp = Date.now() + (await readClockLead());
  return new TOTP({ secret: Secret.fromBase32(key) }).generate({ timestamp });
}

journey("A colleague", async ({ someone }) => {
  const { email } = await openShop();
  const ann = await someone(email);
  await ann.open("/");
  await ann.goTo("Settings");
  await ann.press("Members");
  await ann.looks("members");
  const address = uniqueEmail();
  await ann.write("Email", address);
  await ann.choose("Role", "Marketer");
  await ann.press("Send invitation");
  await ann.sees(address);
  await ann.looks("invited");

  const ben = await someone();
  await ben.open(await readLink(address, "accept-invitation"));
  await ben.sees("Choose a password");
  await ben.looks("invitation");
  await ben.write("Choose a password", "the quay at dawn");
  await ben.press("Join");
  await ben.looks("joined");
  await ben.press("Open the console");
  await ben.goTo("Settings");
  await ben.press("Your security");
  await ben.seesHeading("Two-step sign-in");
  await ben.looks("security");
  await ben.press("Turn on");
  const key = await ben.dialog().locator(".mono").innerText();
  await ben.looks("second factor");
  await ben.write("Code", await newCode(key.trim()));
  await ben.confirm("Turn on");
  await ben.sees(
    "Keep these recovery codes where you find them without your phone. Each works once. They are not shown again.",
  );
  await ben.looks("recovery codes");
  await ben.signOut();
  await ben.press("Forgot your password?");
  await ben.looks("forgot");
  await ben.write("Email", address);
  await ben.press("Send me a link");
  await ben.seesHeading("Please check your inbox");
  await ben.looks("link sent");
  await ben.open(await readLink(address, "reset-password"));
  await ben.looks("new password");
  await ben.write("New password", "the quay at dusk");
  await ben.press("Save the new password");
  await ben.seesHeading("Your new password is set");
  await ben.looks("password set");
  await ben.press("Log in");
  await ben.seesHeading("Sign in");
  await ben.write("Email", address);
  await ben.write("Password", "the quay at dusk");
  await ben.press("Sign in");
  await ben.sees("Code");
  await ben.looks("code");
  await ben.write("Code", await newCode(key.trim()));
  await ben.press("Confirm");
  await ben.seesHeading("Home");
  await ben.looks("back at home");
});

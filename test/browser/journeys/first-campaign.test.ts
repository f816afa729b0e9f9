// A first campaign from nothing, with an email of its own: tested, scheduled, taken back, sent.
import { uniqueEmail, waitForMail } from "../../support/api-client.ts";
import { journey, openShop } from "../../support/journeys.ts";
import { runUntilIdle } from "../../support/sending-client.ts";

const guests = ["opened+ann", "clicked+ben", "bounced+cora", "delivered+dan"].map((name) => ({
  email: `${name}@simulator.pennymail.test`,
  firstName: name.split("+")[1],
}));

const inThreeMonths = (): string => {
  const time = new Date(Date.now() + 90 * 86_400_000);
  return time.toISOString().slice(0, "2026-12-01T09:00".length);
};

journey("A first campaign", async ({ someone }) => {
  const { email } = await openShop(guests);
  const ann = await someone(email);
  await ann.open("/");
  await ann.goTo("Campaigns");
  await ann.looks("no campaign");
  await ann.press("New campaign");
  await ann.write("Name", "Autumn loaves");
  await ann.looks("new campaign");
  await ann.confirm("Create campaign");
  await ann.sees("What does the email begin with?");
  await ann.looks("empty draft");
  await ann.choose("Send to", "All subscribed contacts");
  await ann.sees("4 of 4 contacts get it.");
  await ann.press("A design…");
  await ann.looks("designs");
  await ann.confirm("Announcement…");
  await ann.seesHeading("Autumn loaves");
  await ann.looks("editor");
  await ann.press("Done");
  await ann.write("Subject", "Autumn loaves, still warm");
  await ann.write("Preview text (optional)", "Baked at dawn");
  await ann.page.keyboard.press("Tab");
  await ann.sees("Autumn loaves, still warm");
  await ann.looks("written draft");
  const reviewer = uniqueEmail();
  await ann.write("Send it to", reviewer);
  await ann.press("Send test email");
  await ann.sees("1 test email is on the way.");
  await waitForMail(reviewer);
  await ann.pick("At a time");
  await ann.write("Start", inThreeMonths());
  await ann.press("Schedule for 4 contacts");
  await ann.looks("confirm schedule");
  await ann.confirm("Schedule for 4 contacts");
  await ann.sees("Scheduled for …");
  await ann.looks("scheduled");
  await ann.press("Back to draft");
  await ann.sees("The campaign is a draft again.");
  await ann.pick("Now");
  await ann.press("Send to 4 contacts");
  await ann.looks("confirm");
  await ann.confirm("Send to 4 contacts");
  await ann.sees("The campaign is being sent.");
  await runUntilIdle();
  await ann.sees("Clicked links");
  await ann.looks("sent");
  await ann.goTo("Campaigns");
  await ann.sees("Autumn loaves");
  await ann.looks("campaigns");
  await ann.goTo("Home");
  await ann.sees("Latest campaigns");
  await ann.looks("home");
});

// A segment of those who opened something, the reason why somebody is in it, and a campaign to it.
import { expectStatus } from "../../support/api-client.ts";
import { journey, openShop } from "../../support/journeys.ts";
import { runUntilIdle } from "../../support/sending-client.ts";

const guests = ["opened+ann", "clicked+ben", "delivered+cora", "delivered+dan"].map((name) => ({
  email: `${name}@simulator.pennymail.test`,
}));

journey("A segment by behaviour", async ({ someone }) => {
  const { email, call, siteId, configId } = await openShop(guests);
  const html = '<p>Hello</p><a href="https://harbour.example">Visit us</a>';
  const recipients = guests.map((guest) => ({ to: guest.email }));
  const mail = { siteId, sendingConfigId: configId, subject: "Hello", html, recipients };
  expectStatus(202, await call("POST", "/send/batch", mail));
  await runUntilIdle();
  const ann = await someone(email);
  await ann.open("/");
  await ann.goTo("Segments");
  await ann.looks("no segment");
  await ann.press("Create a segment");
  await ann.write("Name", "Harbour readers");
  await ann.choose("Field", "Opens");
  await ann.choose("Comparison", "is more than");
  await ann.write("Value of Opens", "0");
  await ann.sees("2", ann.page.getByRole("region", { name: ann.reads("Contacts that match") }));
  await ann.looks("new segment");
  await ann.write("Contact to explain", "delivered+dan");
  await ann.pick("delivered+dan@simulator.pennymail.test");
  await ann.sees("Is not in the segment");
  await ann.looks("why not");
  await ann.press("Create segment");
  await ann.seesHeading("Harbour readers");
  await ann.looks("segment");
  await ann.press("Send a campaign");
  await ann.sees("2 of 2 contacts get it.");
  await ann.looks("campaign");
  await ann.goTo("Segments");
  await ann.sees("Harbour readers");
  await ann.looks("segments");
});

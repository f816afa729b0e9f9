// Somebody did not get an email: the log and the contact say why.
import { expectStatus } from "../../support/api-client.ts";
import { journey, openShop } from "../../support/journeys.ts";
import { runUntilIdle } from "../../support/sending-client.ts";

const bounced = "bounced+cora@simulator.pennymail.test";

journey("Why did Cora not get it", async ({ someone }) => {
  const guest = { email: bounced, firstName: "Cora" };
  const { email, call, siteId, configId } = await openShop([guest]);
  const mail = { siteId, sendingConfigId: configId, to: bounced, html: "<p>Hello</p>" };
  expectStatus(202, await call("POST", "/send", { ...mail, subject: "Order 17" }));
  await runUntilIdle();
  const ann = await someone(email);
  await ann.open("/");
  await ann.goTo("Log");
  await ann.sees("Order 17");
  await ann.looks("log");
  await ann.write("Email address of a recipient", bounced);
  await ann.sees("Suppressed");
  await ann.looks("answer");
  await ann.pick("Order 17");
  await ann.sees("Message id");
  await ann.looks("email");
  await ann.press("Close");
  await ann.goTo("Suppressions");
  await ann.sees(bounced);
  await ann.looks("suppressions");
  await ann.goTo("Contacts");
  await ann.pick(bounced);
  await ann.sees("Gets nothing: the address is on the suppression list.");
  await ann.looks("contact");
  await ann.press("Timeline");
  await ann.looks("timeline");
  await ann.press("Emails");
  await ann.sees("Order 17");
  await ann.press("Consent");
  await ann.looks("consent");
});

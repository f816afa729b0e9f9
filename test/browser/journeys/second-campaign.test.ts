// The second campaign: a copy, with an A/B test, sent again to those who did not open it.
import { expectStatus } from "../../support/api-client.ts";
import { journey, openShop } from "../../support/journeys.ts";
import { runUntilIdle } from "../../support/sending-client.ts";

const guests = ["opened+ann", "clicked+ben", "delivered+cora", "delivered+dan"].map((name) => ({
  email: `${name}@simulator.pennymail.test`,
}));

journey("The second campaign", async ({ someone }) => {
  const { email, call, siteId, configId } = await openShop(guests);
  const content = { subject: "Autumn loaves", html: "<p>Autumn loaves</p>" };
  const template = await call<{ id: number }>("POST", "/templates", {
    ...{ siteId, name: "Loaves", ...content },
  });
  const campaign = await call<{ id: number }>("POST", "/campaigns", {
    ...{ siteId, name: "Autumn loaves", audience: { all: true }, sendingConfigId: configId },
    content: { copyOf: expectStatus(201, template).body.data.id },
  });
  const { id } = expectStatus(201, campaign).body.data;
  expectStatus(200, await call("POST", `/campaigns/${id}/send`, {}));
  await runUntilIdle();
  const ann = await someone(email);
  await ann.open("/");
  await ann.goTo("Campaigns");
  await ann.pick("Autumn loaves");
  await ann.sees("Clicked links");
  await ann.looks("first result");
  await ann.press("More");
  await ann.press("Copy to a new draft");
  await ann.seesHeading("Copy of Autumn loaves");
  await ann.press("Test variants");
  await ann.choose(
    "Who gets the variants",
    "The whole audience, in equal parts. There is no winner.",
  );
  await ann.write("Subject of B", "Warm loaves");
  await ann.page.keyboard.press("Tab");
  await ann.looks("variants");
  await ann.press("Send to 4 contacts");
  await ann.looks("confirm");
  await ann.confirm("Send to 4 contacts");
  await runUntilIdle();
  await ann.sees("The whole audience got the variants.");
  await ann.looks("variants sent");
  await ann.press("Resend to those who did not open");
  await ann.looks("resend");
  await ann.confirm("Create draft");
  await ann.sees("2 of 2 contacts get it.");
  await ann.looks("resend draft");
  await ann.goTo("Reports");
  await ann.looks("reports");
  await ann.goTo("Contacts");
  await ann.press("Export");
  await ann.looks("export");
  await ann.confirm("Export");
  await ann.sees("Download file");
  await ann.looks("exported");
});

// A template with the brand of the shop, a picture of its own, and a field with a fallback.
import { uniqueEmail, waitForMail } from "../../support/api-client.ts";
import { journey, openShop } from "../../support/journeys.ts";
import { tinyPicture } from "../../support/tiny-picture.ts";

const picture = { name: "loaf.png", mimeType: "image/png", content: tinyPicture };

journey("A template", async ({ someone }) => {
  const { email } = await openShop([{ email: "cora@harbour.example", firstName: "Cora" }]);
  const ann = await someone(email);
  await ann.open("/");
  await ann.goTo("Settings");
  await ann.press("Brand");
  await ann.sees("Social links");
  await ann.write("Footer text (optional)", "Harbour Ltd, Quay Street 1");
  await ann.press("Save");
  await ann.sees("Saved");
  await ann.looks("brand");
  await ann.goTo("Pictures");
  await ann.sees("No picture yet");
  await ann.looks("no picture");
  await ann.press("Add picture");
  await ann.give("Choose a file", picture);
  await ann.write("Description", "A loaf on a bench");
  await ann.looks("new picture");
  await ann.confirm("Add picture");
  await ann.sees("loaf");
  await ann.looks("pictures");
  await ann.goTo("Templates");
  await ann.sees("No template yet");
  await ann.looks("no template");
  await ann.press("New template");
  await ann.looks("designs");
  await ann.confirm("Newsletter…");
  await ann.sees("4 things to complete");
  await ann.looks("editor");
  await ann.press("Insert a field: Subject");
  await ann.press("First name");
  await ann.pick("Add an image");
  await ann.looks("image");
  await ann.press("Choose a picture");
  await ann.looks("choose a picture");
  await ann.pick("loaf", ann.dialog());
  // A desk shows the settings beside the email.
  if (ann.form.size === "phone") await ann.press("Close settings");
  await ann.press("Save template");
  await ann.sees("Version 2");
  await ann.press("Preview");
  await ann.looks("preview");
  await ann.press("Checks");
  await ann.looks("checks");
  await ann.press("Test email");
  const reviewer = uniqueEmail();
  await ann.write("Send it to", reviewer);
  await ann.press("Send test email");
  await ann.sees("1 test email is on the way.");
  await waitForMail(reviewer);
  await ann.looks("test email");
});

// A list from another tool: its columns become fields, its rows contacts with a tag.
import { journey, openShop } from "../../support/journeys.ts";

const rows = Array.from(
  { length: 40 },
  (_, i) => `guest${i}@harbour.example,Guest ${i},${i % 2 ? "Rye" : "Wheat"},${i},"regular,shop"`,
);
const content = [
  "Email,First name,Favourite bread,Visits,Tags",
  ...rows,
  "no-address-at-all,Nobody,Rye,1,",
].join("\n");

journey("Import of a list", async ({ someone }) => {
  const { email } = await openShop();
  const ann = await someone(email);
  await ann.open("/");
  await ann.goTo("Contacts");
  await ann.sees("No contacts yet");
  await ann.looks("no contacts");
  await ann.press("Upload a file");
  await ann.sees("Drop a CSV file here");
  await ann.looks("choose a file");
  await ann.give("Choose a file", { name: "guests.csv", mimeType: "text/csv", content });
  await ann.sees("The first 20 rows can be imported.");
  await ann.looks("columns");
  await ann.press("Continue");
  await ann.write("Tags for all of them (optional)", "moved-in");
  await ann.page.keyboard.press("Enter");
  await ann.looks("what to do");
  await ann.press("Import 41 rows");
  await ann.sees("41 rows read");
  await ann.sees("no-address-at-all");
  await ann.looks("imported");
  await ann.press("Show them");
  await ann.sees("40 contacts");
  await ann.looks("contacts");
  await ann.pick("guest37@harbour.example");
  await ann.sees("Gets campaigns and sequences.");
  await ann.sees("Rye");
  await ann.looks("contact");
});

// An address whose domain has letters beyond ASCII is one address in every way it comes in.
import { expect, test } from "vitest";
import { expectStatus } from "../support/api-client.ts";
import {
  createSendingClient,
  isLocalService,
  listInbox,
  runUntilIdle,
} from "../support/sending-client.ts";

interface Contact {
  id: number;
  email: string;
  status: string;
}

test("both spellings of an address are one contact, shown with its letters", async ({ skip }) => {
  if (!(await isLocalService())) skip();
  const client = await createSendingClient();
  const { call } = client;
  const name = `info${Date.now().toString(36)}`;
  const [unicode, ascii] = [`${name}@bücher.example`, `${name}@xn--bcher-kva.example`];
  const made = expectStatus(
    201,
    await call<Contact>("POST", "/contacts", { email: ` ${ascii}\u200b` }),
  ).body.data;
  expect(made.email).toBe(unicode);
  expect((await call("POST", "/contacts", { email: unicode })).status).toBe(409);
  const list = async (query: string) => {
    const path = `/contacts?search=${encodeURIComponent(query)}`;
    return expectStatus(200, await call<{ contacts: Contact[] }>("GET", path)).body.data.contacts;
  };
  for (const query of [unicode, ascii, name])
    expect((await list(query)).map(({ id }) => id)).toEqual([made.id]);
  const raw = `email,firstName\n${unicode},Ada\n${ascii},Bea\n`;
  const headers = { "content-type": "text/csv" };
  expectStatus(202, await call("POST", "/imports/upload", undefined, { raw, headers }));
  await runUntilIdle();
  expect(await list(name)).toMatchObject([{ id: made.id, email: unicode, firstName: "Bea" }]);

  const message = {
    sendingConfigId: client.configId,
    to: ascii,
    subject: "Hello",
    html: "<p>Hello</p>",
  };
  const { id } = expectStatus(202, await call<{ id: number }>("POST", "/send", message)).body.data;
  await runUntilIdle();
  const send = expectStatus(200, await call<{ toEmail: string }>("GET", `/sends/${id}`)).body.data;
  expect(send).toMatchObject({ toEmail: unicode, contactId: made.id });
  // The provider gets ASCII.
  expect(await listInbox(ascii)).toHaveLength(1);
  expectStatus(201, await call("POST", "/suppressions", { email: unicode }));
  expect((await list(name))[0]!.status).toBe("suppressed");
});

// Received mail over HTTP: from the request of a provider to the API.
import { expect, inject, test } from "vitest";
import { expectStatus, request, signedUp } from "../support/api-client.ts";
import { writeRequest } from "../support/inbound-mail.ts";
import { isLocalService } from "../support/sending-client.ts";
import { waitFor } from "../support/wait-for.ts";

interface InboundEmail {
  id: number;
  fromEmail: string;
  kind: string;
  attachmentCount: number;
}

test("a form with a mail is stored and listed, and a wrong token is refused", async () => {
  const { call, siteId } = await signedUp();
  const settings = expectStatus(
    200,
    await call<{ urls: { sendgrid: string; postmark: string } }>(
      "GET",
      `/inbound-settings/${siteId}`,
    ),
  ).body.data;
  const { search } = new URL(settings.urls.sendgrid);
  const mail = { from: "Ann <ann@example.com>", text: `${"long ".repeat(40_000)}end` };
  const { contentType, body } = await writeRequest.sendgrid(mail);
  const post = (query: string) =>
    request("POST", `/inbound/sendgrid${query}`, undefined, {
      raw: new Uint8Array(body),
      headers: { "content-type": contentType },
    });
  expectStatus(401, await post(search.slice(0, -4)));
  expectStatus(200, await post(search));
  expectStatus(200, await post(search));
  const listed = await waitFor(async () => {
    const { inboundEmails } = expectStatus(
      200,
      await call<{ inboundEmails: InboundEmail[] }>("GET", "/inbound-emails"),
    ).body.data;
    expect(inboundEmails).toHaveLength(1);
    return inboundEmails[0]!;
  });
  expect(listed).toMatchObject({ fromEmail: "ann@example.com", kind: "other", attachmentCount: 1 });
  const detail = expectStatus(
    200,
    await call<{ text: string; attachments: { url: string }[] }>(
      "GET",
      `/inbound-emails/${listed.id}`,
    ),
  ).body.data;
  expect(detail.text).toMatch(/^long .*end$/);
  const file = await fetch(detail.attachments[0]!.url);
  expect(await file.text()).toBe("%PDF-1.4 a small file");
  const { call: stranger } = await signedUp();
  expectStatus(404, await stranger("GET", `/inbound-emails/${listed.id}`));
  expectStatus(404, await stranger("GET", `/inbound-settings/${siteId}`));
});

test("forwarding without a verified sender is possible, with a warning", async () => {
  const { call, siteId } = await signedUp();
  const change = (changes: object) => call("PUT", `/inbound-settings/${siteId}`, changes);
  const settings = expectStatus(200, await change({ forwardTo: "team@shop.example" }));
  expect(settings.body).toMatchObject({
    data: { forwardTo: "team@shop.example" },
    warnings: [expect.stringContaining("No sending config is verified")],
  });
  expect(expectStatus(200, await change({ forwardTo: null })).body).not.toHaveProperty("warnings");
});

test.runIf(await isLocalService())(
  "a bounce that comes into the mailbox of an SMTP config is an event",
  async () => {
    const client = await signedUp();
    const { call, siteId } = client;
    const sandbox = await fetch(`${inject("baseUrl")}/_local/sandbox`);
    const { data } = (await sandbox.json()) as {
      data: { providers: { smtp: { credentials: object } }; bounceMailbox: object };
    };
    const config = {
      provider: "smtp",
      fromEmail: "hello@shop.example",
      credentials: { ...data.providers.smtp.credentials, returnPath: "bounces@shop.example" },
    };
    const { id } = expectStatus(201, await call<{ id: number }>("POST", "/sending-configs", config))
      .body.data;
    const path = `/sending-configs/${id}/bounce-mailbox`;
    const settings = { siteId, ...data.bounceMailbox };
    const wrong = await call("PUT", path, { ...settings, password: "wrong" });
    expect(expectStatus(400, wrong).body.details).toMatchObject([{ path: "password" }]);
    const to = "bounced+mailbox@simulator.pennymail.test";
    const mail = { to, sendingConfigId: id, subject: "Hello", html: "<p>Hello</p>" };
    const send = expectStatus(202, await call<{ id: number }>("POST", "/send", mail)).body.data;
    await waitFor(async () => {
      const sent = await call<{ status: string }>("GET", `/sends/${send.id}`);
      expect(sent.body.data.status).toBe("sent");
    });
    const set = await call<{ state: string }>("PUT", path, settings);
    expect(expectStatus(200, set).body.data.state).toBe("waiting");
    await waitFor(async () => {
      const sent = await call<{ events: { type: string }[] }>("GET", `/sends/${send.id}`);
      expect(sent.body.data.events).toMatchObject([{ type: "bounce" }]);
    });
    const read = await call<{ mailbox: { state: string } }>("GET", path);
    expect(read.body.data.mailbox.state).toBe("working");
    expect(JSON.stringify(read.body)).not.toContain(
      (data.bounceMailbox as { password: string }).password,
    );
    expectStatus(200, await call("DELETE", path));
    expect((await call<{ mailbox: null }>("GET", path)).body.data.mailbox).toBeNull();
  },
);

// Received mail over HTTP: from the request of a provider to the API.
import { expect, test } from "vitest";
import { expectStatus, request, signedUp } from "../support/api-client.ts";
import { writeRequest } from "../support/inbound-mail.ts";
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

// Values of provider events in undocumented formats: reasons, our ids, times and addresses.
import { expect, it } from "vitest";
import { asIsoTime } from "../../shared/providers/inbound/normalize.ts";
import { iso, readEvent, recipientEmail, seconds } from "../support/minimal-provider-events.ts";

it.each([
  ["mandrill", { event: "reject", msg: { reject: { reason: "hard-bounce" } } }, "hard-bounce"],
  [
    "mandrill",
    { event: "deferral", msg: { smtp_events: [{ diag: "421 first" }, { diag: "421 last" }] } },
    "421 last",
  ],
  [
    "mailjet",
    { event: "bounce", comment: "", error: "", error_related_to: "policy issue" },
    "policy issue",
  ],
  ["smtp2go", { event: "reject", message: "", context: "on the list" }, "on the list"],
  [
    "ses",
    {
      eventType: "DeliveryDelay",
      deliveryDelay: {
        delayType: "MailboxFull",
        delayedRecipients: [{ emailAddress: recipientEmail }],
      },
    },
    "MailboxFull",
  ],
  [
    "resend",
    { type: "email.suppressed", suppressed: { reason: "previous_bounce" } },
    "previous_bounce",
  ],
  [
    "ses",
    { eventType: "Bounce", bounce: { bouncedRecipients: [{ emailAddress: recipientEmail }] } },
    undefined,
  ],
])("%s: the reason of %j is %s", (key, row, reason) => {
  expect(readEvent(key, row)[0]!.data.reason).toBe(reason);
});

it.each([
  ["mandrill", { event: "delivered", msg: { metadata: { sendId: "90210" } } }, 90210],
  ["mandrill", { event: "delivered", msg: { metadata: [] } }, undefined],
  ["smtp2go", { event: "delivered", "x-send-id": "7" }, 7],
  ["sendgrid", { event: "delivered", sendId: "9007199254740993" }, undefined],
  ["sendgrid", { event: "delivered", sendId: -1 }, undefined],
  ["sendgrid", { event: "delivered", sendId: 1.5 }, undefined],
  ["sendgrid", { event: "delivered", sendId: "7; drop" }, undefined],
  ["mailjet", { event: "sent", Payload: "not JSON", CustomID: "7" }, 7],
  [
    "ses",
    {
      eventType: "Open",
      open: {},
      mail: { destination: [recipientEmail], headers: [{ name: "x-send-id", value: "7" }] },
    },
    7,
  ],
  ["brevo", { event: "delivered", "X-Mailin-custom": "[7]" }, undefined],
])("%s: %j is about send %s", (key, row, sendId) => {
  expect(readEvent(key, row)[0]!.sendId).toBe(sendId);
});

it("reads the time of an event in all formats of the providers", () => {
  const same = [
    seconds,
    seconds * 1000,
    String(seconds),
    "1795166045.000",
    "2026-11-20T09:14:05Z",
    "2026-11-20 09:14:05+00",
  ];
  const offsets = [
    "2026-11-20T09:14:05 +0000",
    "2026-11-20T10:14:05.0000000+01:00",
    "2026-11-20T05:14:05-0400",
    "2026-11-20T09:14:05",
  ];
  for (const value of [...same, ...offsets])
    expect([value, asIsoTime(value)]).toEqual([value, iso]);
  expect(asIsoTime(1_774_526_402.658_528_3)).toBe("2026-03-26T12:00:02.659Z");
  expect(asIsoTime("2026-11-20 09:13:59.894719+00")).toBe("2026-11-20T09:13:59.894Z");
});

it.each([
  0,
  -1,
  1e20,
  Number.NaN,
  4_102_444_800,
  "",
  "now",
  "20",
  "2026-13-01T00:00:00Z",
  "1999-12-31T23:59:59Z",
  "+012026-01-01",
  null,
  {},
  [],
])("does not accept %s as a time", (value) => {
  expect(asIsoTime(value)).toBeUndefined();
});

it("skips an event without a time, address or id, and stores no invalid address", () => {
  const row = { event: "delivered" };
  expect(readEvent("sendgrid", row)).toHaveLength(1);
  for (const change of [
    { timestamp: "soon" },
    { email: null },
    { email: "ann" },
    { email: "a b@example.net" },
    { email: "" },
    { email: `${"a".repeat(400)}@example.net` },
    { sg_event_id: "" },
  ])
    expect(readEvent("sendgrid", { ...row, ...change })).toEqual([]);
});

it("keeps the recipient's address as an IP address only", () => {
  expect(readEvent("sendgrid", { event: "open", ip: "2001:db8::7" })[0]!.ipAddress).toBe(
    "2001:db8::7",
  );
  expect(readEvent("sendgrid", { event: "open", ip: "198.51.100.7:25" })[0]).not.toHaveProperty(
    "ipAddress",
  );
});

it("two long ids with the same beginning stay distinct", () => {
  const link = `https://example.net/${"a".repeat(3000)}`;
  const [one, two] = ["1", "2"].map(
    (end) => readEvent("postmark", { RecordType: "Click", OriginalLink: link + end })[0]!,
  );
  expect(one!.providerEventId).not.toBe(two!.providerEventId);
  expect(one!.data.url).toHaveLength(1000);
});

it.each([
  [
    "ses",
    {
      eventType: "Click",
      click: { timestamp: "2026-11-20T09:14:05.000Z", link: "https://example.net/1" },
    },
  ],
  ["resend", { type: "email.clicked", click: { link: "https://example.net/1" } }],
] as const)("%s: simultaneous clicks on two links are two events", (key, row) => {
  const other = JSON.parse(JSON.stringify(row).replace("net/1", "net/2")) as typeof row;
  const [one, two] = [row, other].map((some) => readEvent(key, some)[0]!);
  expect(one!.providerEventId).not.toBe(two!.providerEventId);
});

it("skips events of mails that are no sends, such as the test mail of a sending config", () => {
  for (const sendId of ["0", 0])
    expect(readEvent("sendgrid", { event: "delivered", sendId })).toEqual([]);
  expect(
    readEvent("ses", {
      eventType: "Delivery",
      mail: { destination: [recipientEmail], tags: { sendId: ["0"] } },
      delivery: { recipients: [recipientEmail] },
    }),
  ).toEqual([]);
});

import { expect, test } from "vitest";
import { type SendItem, toApi } from "../../shared/domain/sending/send-schema.ts";

const item: SendItem = {
  ...{
    id: 1,
    siteId: 1,
    toEmail: "ann@example.com",
    fromEmail: "hi@shop.example",
    subject: "Hi",
    status: "delivered",
  },
  ...{ provider: "postmark", sendingConfigId: 1, createdAt: "2026-11-21T08:00:00.000Z", v: 0 },
};
const times = ({ sentAt, deliveredAt, openedAt, clickedAt }: ReturnType<typeof toApi>) => ({
  sentAt,
  deliveredAt,
  openedAt,
  clickedAt,
});

test("deliveredAt is never before sentAt, even if the clock of the provider is behind", () => {
  const [behind, sentAt, openedAt] = [
    "2026-11-21T08:00:00.500Z",
    "2026-11-21T08:00:01.000Z",
    "2026-11-21T08:00:09.000Z",
  ];
  expect(times(toApi({ ...item, sentAt, deliveredAt: behind, openedAt }))).toEqual({
    sentAt,
    deliveredAt: sentAt,
    openedAt,
    clickedAt: null,
  });
  expect(times(toApi({ ...item, deliveredAt: behind }))).toMatchObject({
    sentAt: null,
    deliveredAt: behind,
  });
});

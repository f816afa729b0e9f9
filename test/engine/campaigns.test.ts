// Campaigns: whoever dies, whatever people do meanwhile, everybody gets one mail, and the numbers are true at every moment.
import { beforeAll, expect, test, vi } from "vitest";
import * as state from "../../shared/domain/campaigns/state.ts";
import { draft, look, numbers, onceEach, opened, people, settle, shop } from "../support/campaigners.ts";

vi.setConfig({ testTimeout: 120_000 });
beforeAll(opened);

test("everybody on the list gets one mail", async () => {
  const from = await shop();
  await people(from, 1200);
  const { id } = await draft(from);
  const begun = await state.send(from.caller, id);
  expect(begun.status).toBe("sending");
  await settle({ forSeconds: 600 });
  expect(await numbers(from, id)).toMatchObject({ candidates: 1200, accepted: 1200, sent: 1200 });
  expect(onceEach(from)).toHaveLength(1200);
  expect(await look(from, id)).toMatchObject({ status: "sent", finishedAt: expect.any(String), stats: { recipients: 1200, sent: 1200 } });
  await from.provider.stop();
});

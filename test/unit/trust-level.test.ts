import { expect, test } from "vitest";
import { rateTrust, trustLevels } from "../../shared/domain/analytics/mail-health.ts";
import fc from "../support/fast-check.ts";

const clean = { sent: 1000, delivered: 1000, bouncedHard: 0, bouncedSoft: 0, complained: 0 };
const levelOf = (counts: Partial<typeof clean>) => rateTrust({ ...clean, ...counts }).trust.level;

test("the trust level depends on hard bounces and complaints, after at least 100 mails", () => {
  expect(levelOf({})).toBe("good");
  expect(levelOf({ sent: 99, delivered: 0, bouncedHard: 99 })).toBe("new");
  expect([
    levelOf({ bouncedHard: 49 }),
    levelOf({ bouncedHard: 50 }),
    levelOf({ bouncedHard: 100 }),
  ]).toEqual(["good", "watch", "poor"]);
  expect([
    levelOf({ complained: 0 }),
    levelOf({ complained: 1 }),
    levelOf({ complained: 5 }),
  ]).toEqual(["good", "watch", "poor"]);
  expect(levelOf({ bouncedSoft: 900 })).toBe("good");
});

test("rates are between 0 and 1 for any counts", () => {
  const any = fc.integer({ min: -5, max: 10_000 });
  fc.assert(
    fc.property(
      fc.record({ sent: any, delivered: any, bouncedHard: any, bouncedSoft: any, complained: any }),
      (counts) => {
        const { bounceRate, hardBounceRate, complaintRate, trust } = rateTrust(counts);
        for (const rate of [bounceRate, hardBounceRate, complaintRate])
          expect(rate >= 0 && rate <= 1).toBe(true);
        expect(trustLevels).toContain(trust.level);
      },
    ),
  );
});

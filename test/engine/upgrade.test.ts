// Upgrades from version 0.1.0. The next version whose stored items or queued messages differ adds a
// file like this one, with its own number: each fixture needs a process of its own, because
// processes keep what they have read. `WRITE_FIXTURE=1 npx vitest run upgrade` writes the fixture of
// the version in package.json. The fixture of a released version never changes.
import { testUpgradeFrom } from "../support/upgrade-tests.ts";

testUpgradeFrom("0.1.0");

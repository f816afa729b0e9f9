import type { Worker } from "../../shared/consume.ts";
import { worker as advance } from "./advance.ts";
import { worker as campaigns } from "./campaigns.ts";
import { worker as checkDomain } from "./check-domain.ts";
import { worker as drain } from "./drain.ts";
import { worker as exporting } from "./export.ts";
import { worker as fanOut } from "./fan-out.ts";
import { worker as forward } from "./forward.ts";
import { worker as importing } from "./import.ts";
import { worker as lane } from "./lane.ts";
import { worker as providerEvents } from "./provider-events.ts";
import { worker as report } from "./report.ts";
import { worker as send } from "./send.ts";
import { worker as submission } from "./submission.ts";
import { worker as sweep } from "./sweep.ts";
import { worker as systemMail } from "./system-mail.ts";

export const workers: Worker[] = [
  send,
  lane,
  campaigns,
  fanOut,
  drain,
  providerEvents,
  forward,
  submission,
  sweep,
  exporting,
  importing,
  advance,
  report,
  checkDomain,
  systemMail,
];

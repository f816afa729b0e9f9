import * as due from "../../shared/domain/due-work.ts";
import { everyMinutes } from "../../shared/schedules.ts";

export const schedule = everyMinutes(1, "drain-due-work", due.drainAll);
export const { handler } = schedule;

import * as dueWork from "../../shared/domain/due-work.ts";
import { everyMinutes } from "../../shared/schedules.ts";

export const schedule = everyMinutes(1, "drain-due-work", dueWork.drainAll);
export const { handler } = schedule;

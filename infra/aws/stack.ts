// The whole service on AWS. Everything here is read from the tables of routes, queues and ticks; read store.ts next, then api.ts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CfnOutput, Stack, Tags } from "aws-cdk-lib";
import type { Construct } from "constructs";
import type { Worker } from "../../shared/consume.ts";
import type { Tick } from "../../shared/every.ts";
import type { Group } from "../../shared/http/serve.ts";
import type { Queue } from "../../shared/queues.ts";
import { Alarms } from "./alarms.ts";
import { Api } from "./api.ts";
import type { Reach } from "./reach.ts";
import { Schedules } from "./schedules.ts";
import type { Settings } from "./settings.ts";
import { Store } from "./store.ts";
import { Workers } from "./workers.ts";

export interface Tables {
  groups: Group[];
  queues: Record<string, Queue>;
  workers: Worker[];
  ticks: Tick[];
}

export class Pennymail extends Stack {
  constructor(scope: Construct, tables: Tables, settings: Settings, dist: string) {
    super(scope, `Pennymail-${settings.stage}`, { terminationProtection: settings.production });
    const store = new Store(this, settings, tables.queues);
    const house = { settings, store, dist, reach: reachIn(dist) };
    const api = new Api(this, tables.groups, house);
    const { publicUrl } = api;
    const workers = new Workers(this, tables.workers, { ...house, publicUrl });
    const schedules = new Schedules(this, tables.ticks, { ...house, publicUrl });
    new Alarms(this, { store, http: api.http, background: [...workers.functions, ...schedules.functions] }, settings.alarmEmail);
    new CfnOutput(this, "BaseUrl", { value: `${publicUrl}/api/v1` });
    new CfnOutput(this, "Documentation", { value: `${publicUrl}/api/v1/docs` });
    Tags.of(this).add("pennymail-stage", settings.stage);
  }
}

function reachIn(dist: string): Record<string, Reach> {
  try {
    return JSON.parse(readFileSync(join(dist, "reach.json"), "utf8"));
  } catch (cause) {
    throw new Error(`${dist} holds no bundles: npm run build`, { cause });
  }
}

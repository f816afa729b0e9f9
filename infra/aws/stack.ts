// The whole service on AWS, created from the lists of routes, queues and schedules. Read
// stateful-resources.ts next, then api.ts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CfnOutput, Stack, Tags } from "aws-cdk-lib";
import type { Construct } from "constructs";
import type { RouteGroup } from "../../shared/http/dispatch.ts";
import type { QueueWorker } from "../../shared/kernel/queue-worker.ts";
import type { QueueDefinition } from "../../shared/queues.ts";
import type { Schedule } from "../../shared/schedules.ts";
import { Alarms } from "./alarms.ts";
import { ApiConstruct } from "./api.ts";
import type { BundleUsage } from "./bundle-usage.ts";
import { MetricsDashboard } from "./dashboard.ts";
import { QueueWorkers } from "./queue-workers.ts";
import { Schedules } from "./schedules.ts";
import type { StackSettings } from "./settings.ts";
import { StatefulResources } from "./stateful-resources.ts";

export interface ServiceDefinition {
  groups: RouteGroup[];
  queues: Record<string, QueueDefinition>;
  workers: QueueWorker[];
  schedules: Schedule[];
}

export interface Deployment {
  settings: StackSettings;
  /** The folder of the bundles. */
  dist: string;
}

export class PennymailStack extends Stack {
  constructor(scope: Construct, tables: ServiceDefinition, { settings, dist }: Deployment) {
    super(scope, `Pennymail-${settings.stage}`, { terminationProtection: settings.protect });
    const store = new StatefulResources(this, settings, tables.queues);
    const context = { settings, store, dist, usageByBundle: readBundleUsage(dist) };
    const api = new ApiConstruct(this, tables.groups, context);
    const { publicUrl, http } = api;
    const workers = new QueueWorkers(this, tables.workers, { ...context, publicUrl });
    const schedules = new Schedules(this, tables.schedules, { ...context, publicUrl });
    const functions = new Map([...api.functions, ...workers.functions, ...schedules.functions]);
    const { stage, alarmEmail } = settings;
    if (alarmEmail) new Alarms(this, { stage, store, http, functions }, alarmEmail);
    const dashboard = new MetricsDashboard(this, {
      stage,
      store,
      http,
      functions,
      accessLog: api.accessLog,
    });
    this.output({
      BaseUrl: `${publicUrl}/api/v1`,
      Documentation: `${publicUrl}/api/v1/docs`,
      TableName: store.table.tableName,
      BucketName: store.bucket.bucketName,
      KeyArn: store.key.keyArn,
      DashboardName: dashboard.name,
      ...(store.eventBus && { EventBusName: store.eventBus.eventBusName }),
      ...(store.eventFiles && { EventFilesBucket: store.eventFiles.bucketName }),
      ...(api.domain && { GatewayTarget: api.domain.regionalDomainName }),
    });
    Tags.of(this).add("pennymail-stage", settings.stage);
  }

  private output(values: Record<string, string>) {
    for (const [name, value] of Object.entries(values)) new CfnOutput(this, name, { value });
  }
}

function readBundleUsage(dist: string): Record<string, BundleUsage> {
  try {
    return JSON.parse(readFileSync(join(dist, "reach.json"), "utf8"));
  } catch (cause) {
    throw new Error(`${dist} contains no bundles: run npm run build`, { cause });
  }
}

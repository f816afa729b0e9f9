import { beforeAll, describe, expect, inject, test } from "vitest";
import type {} from "../support/built.ts";
import { asText, idIn, type Service, synthesized, tables } from "../support/template.ts";

const dist = inject("dist");
let dev: Service;
let prod: Service;
beforeAll(() => {
  dev = synthesized(dist);
  prod = synthesized(dist, { stage: "prod" });
});

describe("gateway", () => {
  test("every route of the table goes to the function of its group, and everything else to the fallback", () => {
    const functions = dev.functions();
    const targets = new Map(
      dev
        .all<{ IntegrationUri: unknown; PayloadFormatVersion: string }>("AWS::ApiGatewayV2::Integration")
        .map(({ id, Properties }) => [`integrations/${id}`, idIn(Properties.IntegrationUri)]),
    );
    const routed = dev
      .all<{ RouteKey: string; Target: unknown }>("AWS::ApiGatewayV2::Route")
      .map(({ Properties: { RouteKey, Target } }) => [RouteKey, targets.get(asText(Target))]);
    const expected = tables.groups.flatMap(({ name, routes }) => routes.map(({ key }) => [key, functions.get(`http/${name}`)?.id]));
    expect(routed.toSorted()).toEqual([...expected, ["$default", functions.get("http/fallback")?.id]].toSorted());
  });

  test("only this gateway may call the functions behind it", () => {
    const permitted = dev
      .all<{ FunctionName: unknown; Principal: string; SourceArn: unknown }>("AWS::Lambda::Permission")
      .filter(({ Properties }) => Properties.Principal === "apigateway.amazonaws.com");
    const behind = [...dev.functions()].filter(([bundle]) => bundle.startsWith("http/")).map(([, { id }]) => id);
    expect(permitted.map(({ Properties }) => idIn(Properties.FunctionName)).toSorted()).toEqual(behind.toSorted());
    const { id } = dev.one("AWS::ApiGatewayV2::Api");
    for (const { Properties } of permitted) expect(asText(Properties.SourceArn)).toContain(`:${id}/`);
  });

  test("an answer is in time for the gateway, which waits 30 seconds", () => {
    for (const [bundle, { Properties }] of dev.functions()) if (bundle.startsWith("http/")) expect(Properties.Timeout).toBeLessThan(30);
  });

  test("callers are sent to the gateway's own address, unless a public URL or a domain is named", () => {
    const urlOf = (service: Service) =>
      [...service.functions().values()].map(({ Properties }) => Properties.Environment.Variables.PUBLIC_URL);
    const { id } = dev.one("AWS::ApiGatewayV2::Api");
    expect(urlOf(dev).filter((url) => asText(url).includes(id) && asText(url).endsWith("ApiEndpoint"))).toHaveLength(dev.functions().size);
    const named = synthesized(dist, { publicUrl: "https://api.example.com" });
    expect(new Set(urlOf(named))).toEqual(new Set(["https://api.example.com"]));
    const domain = synthesized(dist, { domainName: "mail.example.com", certificateArn: "arn:aws:acm:eu-west-1:1:certificate/1" });
    expect(new Set(urlOf(domain))).toEqual(new Set(["https://mail.example.com"]));
    expect(domain.one("AWS::ApiGatewayV2::DomainName").Properties).toMatchObject({ DomainName: "mail.example.com" });
    expect(domain.one("AWS::ApiGatewayV2::ApiMapping").Properties).toBeDefined();
  });
});

interface QueueProperties {
  VisibilityTimeout: number;
  MessageRetentionPeriod: number;
  SqsManagedSseEnabled: boolean;
  RedrivePolicy?: { deadLetterTargetArn: unknown; maxReceiveCount: number };
}
const liveQueues = (service: Service) =>
  service.all<QueueProperties>("AWS::SQS::Queue").filter(({ Properties }) => Properties.RedrivePolicy);
interface Alarm {
  MetricName: string;
  Namespace: string;
  Threshold: number;
  Dimensions?: { Name: string; Value: unknown }[];
  AlarmActions?: unknown[];
}
const watched = (service: Service, metric: string) =>
  service
    .all<Alarm>("AWS::CloudWatch::Alarm")
    .filter(({ Properties }) => Properties.MetricName === metric)
    .map(({ Properties }) => (Properties.Dimensions ? idIn(Properties.Dimensions[0]!.Value) : "the account"));

describe("queues", () => {
  test("every queue gives up into a dead-letter queue of its own, with an alarm and 14 days to look", () => {
    const live = liveQueues(dev);
    expect(live).toHaveLength(Object.keys(tables.queues).length);
    const dead = live.map(({ Properties }) => idIn(Properties.RedrivePolicy?.deadLetterTargetArn));
    expect(new Set(dead).size).toBe(live.length);
    expect(watched(dev, "ApproximateNumberOfMessagesVisible").toSorted()).toEqual(dead.toSorted());
    for (const { id, Properties } of dev.all<QueueProperties>("AWS::SQS::Queue")) {
      expect(Properties.MessageRetentionPeriod, id).toBe(14 * 86_400);
      expect(Properties.SqsManagedSseEnabled, id).toBe(true);
    }
  });

  test("every queue of the table has one worker, which takes only from it and reports partial failures", () => {
    const functions = dev.functions();
    const sources = dev.all<Source>("AWS::Lambda::EventSourceMapping").map(({ Properties }) => Properties);
    expect(sources).toHaveLength(Object.keys(tables.queues).length);
    for (const queue of Object.values(tables.queues)) {
      const fn = functions.get(`queue/${queue.name}`);
      const [source, ...others] = sources.filter(({ FunctionName }) => idIn(FunctionName) === fn?.id);
      expect(others, queue.name).toEqual([]);
      expect(source?.FunctionResponseTypes, queue.name).toEqual(["ReportBatchItemFailures"]);
      expect(source?.BatchSize, queue.name).toBe(queue.batch);
      expect(source?.ScalingConfig.MaximumConcurrency, queue.name).toBe(Math.max(2, queue.concurrency));
      // AWS refuses more than 10 at once without a wait.
      expect(queue.batch <= 10 || (source?.MaximumBatchingWindowInSeconds ?? 0) >= 1, queue.name).toBe(true);
      const live = liveQueues(dev).find(({ id }) => id === idIn(source?.EventSourceArn));
      expect(live?.Properties.RedrivePolicy?.maxReceiveCount, queue.name).toBe(queue.attempts);
      expect(live?.Properties.VisibilityTimeout, queue.name).toBeGreaterThanOrEqual(6 * queue.timeoutSeconds);
      expect(fn?.Properties.Timeout, queue.name).toBe(queue.timeoutSeconds);
      expect(dev.rightsOf(`queue/${queue.name}`).filter(({ actions }) => actions.includes("sqs:ReceiveMessage"))).toMatchObject([
        { resources: [`${live?.id}.Arn`] },
      ]);
    }
  });

  test("in a small account the workers leave a quarter of the functions to those who wait for an answer", () => {
    const sum = (service: Service) =>
      service
        .all<Source>("AWS::Lambda::EventSourceMapping")
        .reduce((all, { Properties }) => all + Properties.ScalingConfig.MaximumConcurrency, 0);
    const small = synthesized(dist, { accountConcurrency: "100" });
    expect(sum(dev)).toBeGreaterThan(75);
    expect(sum(small)).toBeLessThanOrEqual(75);
  });

  test("AWS does not take a worker that sends to itself for a runaway, and stops every other function that does", () => {
    const recurring = [...dev.functions()].filter(([, { Properties }]) => "RecursiveLoop" in Properties);
    expect(recurring.map(([bundle]) => bundle).toSorted()).toEqual(tables.workers.map(({ queue }) => `queue/${queue.name}`).toSorted());
    for (const [, { Properties }] of recurring) expect(Properties).toMatchObject({ RecursiveLoop: "Allow" });
  });
});

interface Source {
  FunctionName: unknown;
  EventSourceArn: unknown;
  BatchSize: number;
  MaximumBatchingWindowInSeconds?: number;
  FunctionResponseTypes: string[];
  ScalingConfig: { MaximumConcurrency: number };
}

describe("ticks", () => {
  test("every tick of the table starts its function at its pace", () => {
    const functions = dev.functions();
    const rules = dev
      .all<{ ScheduleExpression: string; Targets: { Arn: unknown }[]; State: string }>("AWS::Events::Rule")
      .map(({ Properties }) => [idIn(Properties.Targets[0]?.Arn), Properties.ScheduleExpression, Properties.State]);
    const pace = (minutes: number) => `rate(${minutes} minute${minutes === 1 ? "" : "s"})`;
    const expected = tables.ticks.map(({ name, minutes }) => [functions.get(`schedule/${name}`)?.id, pace(minutes), "ENABLED"]);
    expect(rules.toSorted()).toEqual(expected.toSorted());
  });
});

interface TableProperties {
  BillingMode: string;
  KeySchema: object[];
  GlobalSecondaryIndexes: { IndexName: string; KeySchema: object[]; Projection: object; WarmThroughput?: object }[];
  Replicas: { PointInTimeRecoverySpecification: object; DeletionProtectionEnabled: boolean }[];
  TimeToLiveSpecification: object;
  WarmThroughput?: object;
}
const tableOf = (service: Service) => service.one<TableProperties>("AWS::DynamoDB::GlobalTable");

describe("store", () => {
  test("the table is on demand, forgets what expires, can be restored to any second, and has the two sparse indexes", () => {
    const { Properties } = tableOf(dev);
    const schema = (prefix: string) => [
      { AttributeName: `${prefix}pk`, KeyType: "HASH" },
      { AttributeName: `${prefix}sk`, KeyType: "RANGE" },
    ];
    expect(Properties.BillingMode).toBe("PAY_PER_REQUEST");
    expect(Properties.KeySchema).toEqual(schema(""));
    expect(Properties.TimeToLiveSpecification).toEqual({ AttributeName: "expires", Enabled: true });
    expect(Properties.Replicas).toHaveLength(1);
    expect(Properties.Replicas[0]?.PointInTimeRecoverySpecification).toEqual({ PointInTimeRecoveryEnabled: true });
    expect(Properties.GlobalSecondaryIndexes).toEqual(
      ["due", "new"].map((IndexName) => ({ IndexName, KeySchema: schema(IndexName), Projection: { ProjectionType: "KEYS_ONLY" } })),
    );
  });

  test("the table is warmed only when asked, as that is charged", () => {
    expect(tableOf(prod).Properties.WarmThroughput).toBeUndefined();
    const warm = { ReadUnitsPerSecond: 30_000, WriteUnitsPerSecond: 20_000 };
    const { Properties } = tableOf(synthesized(dist, { stage: "prod", warmThroughput: "true" }));
    expect([Properties.WarmThroughput, ...Properties.GlobalSecondaryIndexes.map(({ WarmThroughput }) => WarmThroughput)]).toEqual([
      warm,
      warm,
      warm,
    ]);
  });

  test("in production nothing that keeps something goes with the stack", () => {
    expect(tableOf(prod).Properties.Replicas[0]?.DeletionProtectionEnabled).toBe(true);
    expect(tableOf(dev).Properties.Replicas[0]?.DeletionProtectionEnabled).toBe(false);
    for (const type of ["AWS::DynamoDB::GlobalTable", "AWS::S3::Bucket", "AWS::KMS::Key"]) {
      expect(prod.one(type).DeletionPolicy, type).toBe("Retain");
      expect(dev.one(type).DeletionPolicy, type).toBe("Delete");
    }
  });

  test("the bucket is encrypted, closed to the public and to plain HTTP, and drops what no mail needs any more; templates stay", () => {
    const { id, Properties } = dev.one<{ LifecycleConfiguration: { Rules: object[] } }>("AWS::S3::Bucket");
    expect(Properties).toMatchObject({
      BucketEncryption: { ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }] },
      OwnershipControls: { Rules: [{ ObjectOwnership: "BucketOwnerEnforced" }] },
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
    });
    expect(Properties.LifecycleConfiguration.Rules).toEqual([
      expect.objectContaining({ Prefix: "uploads/", ExpirationInDays: 7, Status: "Enabled" }),
      expect.objectContaining({ Prefix: "attachments/", ExpirationInDays: 100, Status: "Enabled" }),
      expect.objectContaining({ Prefix: "bodies/", ExpirationInDays: 100, Status: "Enabled" }),
      expect.objectContaining({ Prefix: "secure/", ExpirationInDays: 400, Status: "Enabled" }),
      expect.objectContaining({ Prefix: "exports/", ExpirationInDays: 7, Status: "Enabled" }),
      expect.objectContaining({ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 }, Status: "Enabled" }),
    ]);
    expect(dev.one("AWS::S3::BucketPolicy").Properties).toMatchObject({
      Bucket: { Ref: id },
      PolicyDocument: {
        Statement: expect.arrayContaining([
          expect.objectContaining({ Effect: "Deny", Action: "s3:*", Condition: { Bool: { "aws:SecureTransport": "false" } } }),
        ]),
      },
    });
  });

  test("a page of an allowed origin may upload, and no other", () => {
    expect(dev.one("AWS::S3::Bucket").Properties).not.toHaveProperty("CorsConfiguration");
    const allowed = synthesized(dist, { allowedOrigins: "https://a.example, https://b.example" });
    expect(allowed.one("AWS::S3::Bucket").Properties).toMatchObject({
      CorsConfiguration: { CorsRules: [{ AllowedMethods: ["PUT"], AllowedOrigins: ["https://a.example", "https://b.example"] }] },
    });
  });

  test("the key is rotated", () => {
    expect(dev.one("AWS::KMS::Key").Properties).toMatchObject({ EnableKeyRotation: true });
  });
});

describe("functions", () => {
  test("each writes JSON to a log of its own, which is kept 30 days", () => {
    const logs = dev.all<{ RetentionInDays: number }>("AWS::Logs::LogGroup");
    for (const { id, Properties } of logs) expect(Properties.RetentionInDays, id).toBe(30);
    const written = [...dev.functions().values()].map(({ Properties }) => {
      const { LogFormat, LogGroup } = (Properties as unknown as { LoggingConfig: { LogFormat: string; LogGroup: unknown } }).LoggingConfig;
      expect(LogFormat).toBe("JSON");
      return idIn(LogGroup);
    });
    expect(written.toSorted()).toEqual(logs.map(({ id }) => id).toSorted());
  });

  test("each runs on Node 24 and ARM, and calls the handler of its bundle", () => {
    for (const { Properties } of dev.functions().values())
      expect(Properties).toMatchObject({ Runtime: "nodejs24.x", Architectures: ["arm64"], Handler: "index.handler" });
  });

  test("settings reach them as config.ts reads them", () => {
    const { Environment } = dev.functions().get("http/account")!.Properties;
    expect(Environment.Variables).toMatchObject({ SIGNUP: "first", DEFAULT_PLAN: "free" });
    expect(Environment.Variables).not.toHaveProperty("SYSTEM_SENDER");
    const told = synthesized(dist, {
      signup: "open",
      defaultPlan: "growth",
      allowedOrigins: "https://a.example",
      systemSender: "postmark:us@example.com",
    });
    expect(told.functions().get("http/account")!.Properties.Environment.Variables).toMatchObject({
      SIGNUP: "open",
      DEFAULT_PLAN: "growth",
      ALLOWED_ORIGINS: "https://a.example",
      SYSTEM_SENDER: "postmark:us@example.com",
    });
  });
});

describe("alarms", () => {
  test("what fails where nobody waits has an alarm, and so has what is answered 5xx", () => {
    const background = [...dev.functions()].filter(([bundle]) => !bundle.startsWith("http/")).map(([, { id }]) => id);
    expect(watched(dev, "Errors").toSorted()).toEqual(background.toSorted());
    expect(watched(dev, "5xx")).toHaveLength(1);
  });

  test("a queue that falls behind and an account that is too small have one", () => {
    expect(watched(dev, "ApproximateAgeOfOldestMessage").toSorted()).toEqual(
      liveQueues(dev)
        .map(({ id }) => id)
        .toSorted(),
    );
    expect(watched(dev, "Throttles")).toEqual(["the account"]);
  });

  test("they are mailed to whom the operator names", () => {
    expect(dev.all("AWS::SNS::Topic")).toEqual([]);
    const told = synthesized(dist, { alarmEmail: "ops@example.com" });
    expect(told.one("AWS::SNS::Subscription").Properties).toMatchObject({ Protocol: "email", Endpoint: "ops@example.com" });
    const topic = { Ref: told.one("AWS::SNS::Topic").id };
    for (const { id, Properties } of told.all<Alarm>("AWS::CloudWatch::Alarm")) expect(Properties.AlarmActions, id).toEqual([topic]);
    expect(told.one("AWS::SNS::TopicPolicy").Properties).toMatchObject({
      PolicyDocument: {
        Statement: expect.arrayContaining([
          expect.objectContaining({ Effect: "Allow", Action: "sns:Publish", Principal: { Service: "cloudwatch.amazonaws.com" } }),
        ]),
      },
    });
  });
});

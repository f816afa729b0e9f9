import { beforeAll, describe, expect, inject, test } from "vitest";
import type {} from "../support/setup/bundles.ts";
import {
  logicalIdOf,
  referenceText,
  type SynthesizedStack,
  serviceTables,
  synthesizeStack,
} from "../support/synthesized-stack.ts";

const dist = inject("dist");
let dev: SynthesizedStack;
let watchedStage: SynthesizedStack;
let unprotected: SynthesizedStack;
beforeAll(() => {
  dev = synthesizeStack(dist);
  watchedStage = synthesizeStack(dist, { alarmEmail: "ops@example.com" });
  unprotected = synthesizeStack(dist, { protect: "false" });
});

describe("gateway", () => {
  const routes = () => {
    const targets = new Map(
      dev
        .findAll<{ IntegrationUri: unknown }>("AWS::ApiGatewayV2::Integration")
        .map(({ id, Properties }) => [
          `integrations/${id}`,
          logicalIdOf(Properties.IntegrationUri),
        ]),
    );
    return dev
      .findAll<{ RouteKey: string; Target: unknown }>("AWS::ApiGatewayV2::Route")
      .map(({ Properties: { RouteKey, Target } }) => ({
        key: RouteKey,
        target: targets.get(referenceText(Target)),
      }));
  };

  /** The route that API Gateway selects: literal segments, then parameters, then {proxy+}. */
  const routeFor = (path: string) => {
    const rank = (key: string) => key.replace(/{\w+\+}/g, "\uffff").replace(/{\w+}/g, "\ufffe");
    const fits = (key: string) =>
      new RegExp(
        `^${key
          .slice(4)
          .replace(/[.+]/g, "\\$&")
          .replace(/{\w+\\\+}/g, ".+")
          .replace(/{\w+}/g, "[^/]+")}$`,
      ).test(path);
    const matching = routes().filter(({ key }) => key.startsWith("ANY ") && fits(key));
    const [best] = matching.sort((a, b) => (rank(a.key) < rank(b.key) ? -1 : 1));
    return best ?? routes().find(({ key }) => key === "$default")!;
  };

  test("every endpoint reaches the function of its group through a gateway route", () => {
    const functions = dev.functions();
    for (const { name, routes } of serviceTables.groups)
      for (const { path } of routes) {
        const requestPath = path.replace(/{\w+}/g, "7");
        expect(routeFor(requestPath).target, path).toBe(functions.get(`http/${name}`)?.id);
      }
    expect(routeFor("/api/v1/no-such-thing").target).toBe(functions.get("http/fallback")?.id);
  });

  test("there are far fewer gateway routes than the limit of 300", () => {
    expect(routes().length).toBeLessThan(200);
  });

  test("each function may be called only for the routes of its group", () => {
    const { id } = dev.findOne("AWS::ApiGatewayV2::Api");
    const allowed = Map.groupBy(
      dev
        .findAll<{ FunctionName: unknown; Principal: string; SourceArn: unknown }>(
          "AWS::Lambda::Permission",
        )
        .filter(({ Properties }) => Properties.Principal === "apigateway.amazonaws.com")
        .map(({ Properties }) => ({
          target: logicalIdOf(Properties.FunctionName),
          pattern: referenceText(Properties.SourceArn).split(`:${id}/`)[1]!,
        })),
      ({ target }) => target,
    );
    // An ARN pattern's * also matches slashes.
    const covers = (pattern: string, arn: string) =>
      new RegExp(`^${pattern.replace(/[.$+]/g, "\\$&").replaceAll("*", ".*")}$`).test(arn);
    const mayCall = (target: string | undefined, arn: string) =>
      (allowed.get(target) ?? []).some(({ pattern }) => covers(pattern, arn));
    for (const { key, target } of routes()) {
      const arn = key === "$default" ? "$default/$default" : `$default/POST${key.slice(4)}`;
      expect(mayCall(target, arn), arn).toBe(true);
      expect(mayCall(target, arn.replace(/{.+?}/g, "7")), arn).toBe(true);
    }
    const functions = dev.functions();
    const contacts = functions.get("http/contacts")?.id;
    expect(mayCall(contacts, "$default/GET/api/v1/billing/usage")).toBe(false);
    const behind = [...functions].filter(([bundle]) => bundle.startsWith("http/"));
    expect([...allowed.keys()].toSorted()).toEqual(behind.map(([, fn]) => fn.id).toSorted());
  });

  test("the stage writes an access log without addresses or query strings, and throttles", () => {
    const { Properties } = dev.findOne<{
      AccessLogSettings: { Format: string };
      DefaultRouteSettings: object;
    }>("AWS::ApiGatewayV2::Stage");
    expect(Object.keys(JSON.parse(Properties.AccessLogSettings.Format))).toContain(
      "integrationError",
    );
    expect(Properties.AccessLogSettings.Format).not.toMatch(
      /sourceIp|querystring|\$context\.path/i,
    );
    expect(Properties.DefaultRouteSettings).toMatchObject({
      ThrottlingRateLimit: 1000,
      ThrottlingBurstLimit: 2000,
    });
  });

  test("functions time out before the gateway does after 30 seconds", () => {
    for (const [bundle, { Properties }] of dev.functions())
      if (bundle.startsWith("http/")) expect(Properties.Timeout).toBeLessThan(30);
  });

  test("the public URL is that of the gateway, unless a public URL or a domain is set", () => {
    const urlOf = (service: SynthesizedStack) =>
      [...service.functions().values()].map(
        ({ Properties }) => Properties.Environment.Variables.PUBLIC_URL,
      );
    const { id } = dev.findOne("AWS::ApiGatewayV2::Api");
    expect(
      urlOf(dev).filter(
        (url) => referenceText(url).includes(id) && referenceText(url).endsWith("ApiEndpoint"),
      ),
    ).toHaveLength(dev.functions().size);
    const named = synthesizeStack(dist, { publicUrl: "https://api.example.com" });
    expect(new Set(urlOf(named))).toEqual(new Set(["https://api.example.com"]));
    const domain = synthesizeStack(dist, {
      domainName: "mail.example.com",
      certificateArn: "arn:aws:acm:eu-west-1:1:certificate/1",
    });
    expect(new Set(urlOf(domain))).toEqual(new Set(["https://mail.example.com"]));
    expect(domain.findOne("AWS::ApiGatewayV2::DomainName").Properties).toMatchObject({
      DomainName: "mail.example.com",
    });
    expect(domain.findOne("AWS::ApiGatewayV2::ApiMapping").Properties).toBeDefined();
    expect(domain.outputs).toHaveProperty("GatewayTarget");
    const closed = (service: SynthesizedStack) =>
      service.findOne<{ DisableExecuteApiEndpoint?: boolean }>("AWS::ApiGatewayV2::Api").Properties
        .DisableExecuteApiEndpoint ?? false;
    expect([closed(dev), closed(domain)]).toEqual([false, true]);
  });
});

interface QueueProperties {
  VisibilityTimeout: number;
  MessageRetentionPeriod: number;
  SqsManagedSseEnabled: boolean;
  RedrivePolicy?: { deadLetterTargetArn: unknown; maxReceiveCount: number };
}
const liveQueues = (service: SynthesizedStack) =>
  service
    .findAll<QueueProperties>("AWS::SQS::Queue")
    .filter(({ Properties }) => Properties.RedrivePolicy);
interface Alarm {
  MetricName: string;
  Namespace: string;
  Threshold: number;
  Dimensions?: { Name: string; Value: unknown }[];
  AlarmActions?: unknown[];
}
const watched = (service: SynthesizedStack, metric: string) =>
  service
    .findAll<Alarm>("AWS::CloudWatch::Alarm")
    .filter(({ Properties }) => Properties.MetricName === metric)
    .map(({ Properties }) =>
      Properties.Dimensions ? logicalIdOf(Properties.Dimensions[0]!.Value) : "the account",
    );

describe("queues", () => {
  test("every queue has its own dead-letter queue with an alarm and a retention of 14 days", () => {
    const live = liveQueues(dev);
    expect(live).toHaveLength(Object.keys(serviceTables.queues).length);
    const dead = live.map(({ Properties }) =>
      logicalIdOf(Properties.RedrivePolicy?.deadLetterTargetArn),
    );
    expect(new Set(dead).size).toBe(live.length);
    expect(watched(watchedStage, "ApproximateNumberOfMessagesVisible").toSorted()).toEqual(
      liveQueues(watchedStage)
        .map(({ Properties }) => logicalIdOf(Properties.RedrivePolicy?.deadLetterTargetArn))
        .toSorted(),
    );
    for (const { id, Properties } of dev.findAll<QueueProperties>("AWS::SQS::Queue")) {
      expect(Properties.MessageRetentionPeriod, id).toBe(14 * 86_400);
      expect(Properties.SqsManagedSseEnabled, id).toBe(true);
    }
  });

  test("every queue has one worker, which receives only from it and reports partial failures", () => {
    const functions = dev.functions();
    const sources = dev
      .findAll<Source>("AWS::Lambda::EventSourceMapping")
      .map(({ Properties }) => Properties);
    expect(sources).toHaveLength(Object.keys(serviceTables.queues).length);
    for (const queue of Object.values(serviceTables.queues)) {
      const fn = functions.get(`queue/${queue.name}`);
      const [source, ...otherSources] = sources.filter(
        ({ FunctionName }) => logicalIdOf(FunctionName) === fn?.id,
      );
      expect(otherSources, queue.name).toEqual([]);
      expect(source?.FunctionResponseTypes, queue.name).toEqual(["ReportBatchItemFailures"]);
      expect(source?.BatchSize, queue.name).toBe(queue.batch);
      expect(source?.ScalingConfig.MaximumConcurrency, queue.name).toBe(
        Math.max(2, queue.concurrency),
      );
      // Without a batching window, AWS accepts a batch size of at most 10.
      expect(
        queue.batch <= 10 || (source?.MaximumBatchingWindowInSeconds ?? 0) >= 1,
        queue.name,
      ).toBe(true);
      const live = liveQueues(dev).find(({ id }) => id === logicalIdOf(source?.EventSourceArn));
      expect(live?.Properties.RedrivePolicy?.maxReceiveCount, queue.name).toBe(queue.attempts);
      expect(live?.Properties.VisibilityTimeout, queue.name).toBeGreaterThanOrEqual(
        6 * queue.timeoutSeconds,
      );
      expect(fn?.Properties.Timeout, queue.name).toBe(queue.timeoutSeconds);
      expect(
        dev
          .permissionsOf(`queue/${queue.name}`)
          .filter(({ actions }) => actions.includes("sqs:ReceiveMessage")),
      ).toMatchObject([{ resources: [`${live?.id}.Arn`] }]);
    }
  });

  test("in a small account the workers leave a quarter of the concurrency to HTTP requests", () => {
    const sum = (service: SynthesizedStack) =>
      service
        .findAll<Source>("AWS::Lambda::EventSourceMapping")
        .reduce((all, { Properties }) => all + Properties.ScalingConfig.MaximumConcurrency, 0);
    const small = synthesizeStack(dist, { accountConcurrency: "100" });
    expect(sum(dev)).toBeGreaterThan(75);
    expect(sum(small)).toBeLessThanOrEqual(75);
  });

  test("in an account that is too small for all queues, throttled messages get more attempts", () => {
    const cramped = synthesizeStack(dist, { accountConcurrency: "10" });
    const counts = (service: SynthesizedStack) =>
      liveQueues(service).map(({ Properties }) => Properties.RedrivePolicy!.maxReceiveCount);
    expect(counts(cramped)).toEqual(counts(dev).map((count) => 10 * count));
  });

  test("only workers may trigger themselves without being stopped by AWS", () => {
    const recurring = [...dev.functions()].filter(
      ([, { Properties }]) => "RecursiveLoop" in Properties,
    );
    expect(recurring.map(([bundle]) => bundle).toSorted()).toEqual(
      serviceTables.workers.map(({ queue }) => `queue/${queue.name}`).toSorted(),
    );
    for (const [, { Properties }] of recurring)
      expect(Properties).toMatchObject({ RecursiveLoop: "Allow" });
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

describe("schedules", () => {
  test("every schedule starts its function at its interval", () => {
    const functions = dev.functions();
    const rules = dev
      .findAll<{ ScheduleExpression: string; Targets: { Arn: unknown }[]; State: string }>(
        "AWS::Events::Rule",
      )
      .map(({ Properties }) => [
        logicalIdOf(Properties.Targets[0]?.Arn),
        Properties.ScheduleExpression,
        Properties.State,
      ]);
    const pace = (minutes: number) => `rate(${minutes} minute${minutes === 1 ? "" : "s"})`;
    const expected = serviceTables.schedules.map(({ name, minutes }) => [
      functions.get(`schedule/${name}`)?.id,
      pace(minutes),
      "ENABLED",
    ]);
    expect(rules.toSorted()).toEqual(expected.toSorted());
    for (const { id, Properties } of dev.findAll<{ Targets: object[] }>("AWS::Events::Rule"))
      expect(Properties.Targets[0], id).toMatchObject({
        RetryPolicy: { MaximumRetryAttempts: 2, MaximumEventAgeInSeconds: 300 },
      });
  });
});

interface TableProperties {
  BillingMode: string;
  KeySchema: object[];
  GlobalSecondaryIndexes: {
    IndexName: string;
    KeySchema: object[];
    Projection: object;
    WarmThroughput?: object;
  }[];
  Replicas: { PointInTimeRecoverySpecification: object; DeletionProtectionEnabled: boolean }[];
  TimeToLiveSpecification: object;
  WarmThroughput?: object;
}
const tableOf = (service: SynthesizedStack) =>
  service.findOne<TableProperties>("AWS::DynamoDB::GlobalTable");

describe("event stream", () => {
  const settings = { eventBus: "true", eventFiles: "true", eventFilesDays: "30" };
  const variables = ["EVENT_BUS_NAME", "EVENT_FILES_BUCKET"];
  const mayDo = (service: SynthesizedStack, action: string, resource: RegExp) =>
    [...service.functions().keys()].filter((bundle) =>
      service
        .permissionsOf(bundle)
        .some(
          ({ actions, resources }) =>
            actions.includes(action) && resources.some((name) => resource.test(name)),
        ),
    );

  test("has no resource, variable or permission unless the settings ask for it", () => {
    expect(dev.findAll("AWS::Events::EventBus")).toEqual([]);
    expect(dev.findAll("AWS::S3::Bucket")).toHaveLength(1);
    for (const { Properties } of dev.functions().values())
      for (const name of variables)
        expect(Properties.Environment.Variables).not.toHaveProperty(name);
    expect(mayDo(dev, "events:PutEvents", /./)).toEqual([]);
  });

  test("has a bus and a bucket, which only the workers that fill them may use", () => {
    const streaming = synthesizeStack(dist, settings);
    expect(streaming.findOne("AWS::Events::EventBus").Properties).toMatchObject({
      Name: "pennymail-dev",
    });
    expect(mayDo(streaming, "events:PutEvents", /^StoreEventBus\w+\.Arn$/)).toEqual([
      "queue/forward",
    ]);
    expect(mayDo(streaming, "s3:PutObject", /^StoreEventFiles\w+\.Arn\/\*$/)).toEqual([
      "queue/jobs",
    ]);
    for (const { Properties } of streaming.functions().values())
      for (const name of variables)
        expect(Properties.Environment.Variables, name).toHaveProperty(name);
    expect(Object.keys(streaming.outputs)).toEqual(
      expect.arrayContaining(["EventBusName", "EventFilesBucket"]),
    );
  });

  test("keeps its bucket private, and its files as long as the setting says", () => {
    const bucketOf = (service: SynthesizedStack) =>
      service
        .findAll<{ LifecycleConfiguration: { Rules: object[] } }>("AWS::S3::Bucket")
        .find(({ id }) => id.startsWith("StoreEventFiles"))!;
    const kept = bucketOf(synthesizeStack(dist, settings));
    expect(kept.DeletionPolicy).toBe("Retain");
    expect(kept.Properties.LifecycleConfiguration.Rules).toEqual([
      expect.objectContaining({ Prefix: "events/", ExpirationInDays: 30, Status: "Enabled" }),
    ]);
    const { LifecycleConfiguration: _, ...shared } = dev.findOne<{
      LifecycleConfiguration: object;
      Tags: object;
    }>("AWS::S3::Bucket").Properties;
    expect(kept.Properties).toMatchObject(shared);
    const removed = bucketOf(synthesizeStack(dist, { ...settings, protect: "false" }));
    expect(removed.DeletionPolicy).toBe("Delete");
  });
});

describe("stateful resources", () => {
  test("the table is on demand, has a TTL, point-in-time recovery and the two sparse indexes", () => {
    const { Properties } = tableOf(dev);
    const schema = (prefix: string) => [
      { AttributeName: `${prefix}pk`, KeyType: "HASH" },
      { AttributeName: `${prefix}sk`, KeyType: "RANGE" },
    ];
    expect(Properties.BillingMode).toBe("PAY_PER_REQUEST");
    expect(Properties.KeySchema).toEqual(schema(""));
    expect(Properties.TimeToLiveSpecification).toEqual({ AttributeName: "expires", Enabled: true });
    expect(Properties.Replicas).toHaveLength(1);
    expect(Properties.Replicas[0]?.PointInTimeRecoverySpecification).toEqual({
      PointInTimeRecoveryEnabled: true,
    });
    expect(Properties.GlobalSecondaryIndexes).toEqual(
      ["due", "new"].map((IndexName) => ({
        IndexName,
        KeySchema: schema(IndexName),
        Projection: { ProjectionType: "KEYS_ONLY" },
      })),
    );
  });

  test("the table has warm throughput only if the setting asks for it", () => {
    expect(tableOf(dev).Properties.WarmThroughput).toBeUndefined();
    const warm = { ReadUnitsPerSecond: 30_000, WriteUnitsPerSecond: 20_000 };
    const { Properties } = tableOf(synthesizeStack(dist, { warmThroughput: "true" }));
    expect([
      Properties.WarmThroughput,
      ...Properties.GlobalSecondaryIndexes.map(({ WarmThroughput }) => WarmThroughput),
    ]).toEqual([warm, warm, warm]);
  });

  test("table, bucket and key remain when the stack is deleted, unless the setting protect is off", () => {
    expect(tableOf(dev).Properties.Replicas[0]?.DeletionProtectionEnabled).toBe(true);
    expect(tableOf(unprotected).Properties.Replicas[0]?.DeletionProtectionEnabled).toBe(false);
    for (const type of ["AWS::DynamoDB::GlobalTable", "AWS::S3::Bucket", "AWS::KMS::Key"]) {
      expect(dev.findOne(type).DeletionPolicy, type).toBe("Retain");
      expect(unprotected.findOne(type).DeletionPolicy, type).toBe("Delete");
    }
    // CloudFormation refuses to delete a bucket with objects.
    expect(unprotected.findAll("Custom::S3AutoDeleteObjects")).toHaveLength(1);
    expect(dev.findAll("Custom::S3AutoDeleteObjects")).toHaveLength(0);
  });

  test("the logical ids of table, bucket and key never change", () => {
    const ids = ["AWS::DynamoDB::GlobalTable", "AWS::S3::Bucket", "AWS::KMS::Key"].map(
      (type) => dev.findOne(type).id,
    );
    expect(ids).toEqual(["StoreTable0CCFA19B", "StoreBucket4FBDE984", "StoreKey7A3C02BD"]);
  });

  test("the outputs name what an operator needs", () => {
    expect(Object.keys(dev.outputs)).toEqual(
      expect.arrayContaining(["BaseUrl", "TableName", "BucketName", "KeyArn", "DashboardName"]),
    );
  });

  test("the bucket is encrypted, private, refuses plain HTTP, and expires everything but templates", () => {
    const { id, Properties } = dev.findOne<{ LifecycleConfiguration: { Rules: object[] } }>(
      "AWS::S3::Bucket",
    );
    expect(Properties).toMatchObject({
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [
          { ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } },
        ],
      },
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
      expect.objectContaining({ Prefix: "inbound/", ExpirationInDays: 70, Status: "Enabled" }),
      expect.objectContaining({ Prefix: "exports/", ExpirationInDays: 7, Status: "Enabled" }),
      expect.objectContaining({
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
        Status: "Enabled",
      }),
    ]);
    expect(dev.findOne("AWS::S3::BucketPolicy").Properties).toMatchObject({
      Bucket: { Ref: id },
      PolicyDocument: {
        Statement: expect.arrayContaining([
          expect.objectContaining({
            Effect: "Deny",
            Action: "s3:*",
            Condition: { Bool: { "aws:SecureTransport": "false" } },
          }),
        ]),
      },
    });
  });

  test("only pages of allowed origins may upload", () => {
    expect(dev.findOne("AWS::S3::Bucket").Properties).not.toHaveProperty("CorsConfiguration");
    const allowed = synthesizeStack(dist, {
      allowedOrigins: "https://a.example, https://b.example",
    });
    expect(allowed.findOne("AWS::S3::Bucket").Properties).toMatchObject({
      CorsConfiguration: {
        CorsRules: [
          { AllowedMethods: ["PUT"], AllowedOrigins: ["https://a.example", "https://b.example"] },
        ],
      },
    });
  });

  test("the key has rotation enabled", () => {
    expect(dev.findOne("AWS::KMS::Key").Properties).toMatchObject({ EnableKeyRotation: true });
  });
});

describe("restored resources", () => {
  const keyArn = "arn:aws:kms:eu-west-1:123456789012:key/11111111-2222-3333-4444-555555555555";
  const named = { tableName: "restored-table", bucketName: "restored-bucket", keyArn };
  const stored = ["AWS::DynamoDB::GlobalTable", "AWS::S3::Bucket", "AWS::KMS::Key"];

  test("the stack creates no table, bucket or key and passes the named ones to every function", () => {
    const restored = synthesizeStack(dist, named);
    for (const type of [...stored, "AWS::S3::BucketPolicy"])
      expect(restored.findAll(type), type).toEqual([]);
    const environments = (service: SynthesizedStack) =>
      [...service.functions()].map(
        ([bundle, { Properties }]) => [bundle, Properties.Environment.Variables] as const,
      );
    const given = new Map(environments(restored));
    for (const [bundle, made] of environments(dev)) {
      const { TABLE_NAME, BUCKET_NAME, KMS_KEY_ID } = given.get(bundle)!;
      expect([bundle, TABLE_NAME, BUCKET_NAME, KMS_KEY_ID]).toEqual([
        bundle,
        made.TABLE_NAME && named.tableName,
        made.BUCKET_NAME && named.bucketName,
        made.KMS_KEY_ID && keyArn,
      ]);
    }
    expect(restored.outputs).toMatchObject({
      TableName: { Value: "restored-table" },
      BucketName: { Value: "restored-bucket" },
      KeyArn: { Value: keyArn },
    });
  });

  test("each function gets the same permissions as for resources of the stack, including indexes", () => {
    const restored = synthesizeStack(dist, named);
    const own = stored.map((type) => dev.findOne(type).id);
    const places = ["table/restored-table", "restored-bucket", keyArn];
    const rights = (service: SynthesizedStack, bundle: string, mark: (arn: string) => string) =>
      service
        .permissionsOf(bundle)
        .map(({ actions, resources }) => ({ actions, resources: resources.map(mark).toSorted() }));
    const markNamed = (arn: string) => {
      const i = places.findIndex((place) => arn.includes(place));
      const rest = i < 0 ? "" : arn.slice(arn.indexOf(places[i]!) + places[i]!.length);
      return i < 0 ? arn : `${i}${rest}`;
    };
    const markOwn = (arn: string) => {
      const i = own.findIndex((id) => arn.includes(`${id}.Arn`));
      return i < 0
        ? arn
        : `${i}${arn.slice(arn.indexOf(`${own[i]}.Arn`) + `${own[i]}.Arn`.length)}`;
    };
    for (const bundle of dev.functions().keys())
      expect(rights(restored, bundle, markNamed), bundle).toEqual(rights(dev, bundle, markOwn));
  });

  test("the table can be named alone, and bucket and key keep their logical ids", () => {
    const { tableName } = named;
    const restored = synthesizeStack(dist, { tableName });
    expect(restored.findAll("AWS::DynamoDB::GlobalTable")).toEqual([]);
    for (const type of stored.slice(1))
      expect(restored.findOne(type).id).toBe(dev.findOne(type).id);
  });
});

describe("functions", () => {
  test("each writes JSON to its own log group with a retention of 30 days", () => {
    const logs = dev.findAll<{ RetentionInDays: number }>("AWS::Logs::LogGroup");
    for (const { id, Properties } of logs) expect(Properties.RetentionInDays, id).toBe(30);
    const written = [...dev.functions().values()].map(({ Properties }) => {
      const { LogFormat, LogGroup } = (
        Properties as unknown as { LoggingConfig: { LogFormat: string; LogGroup: unknown } }
      ).LoggingConfig;
      expect(LogFormat).toBe("JSON");
      return logicalIdOf(LogGroup);
    });
    const ofFunctions = logs.map(({ id }) => id).filter((id) => !id.includes("AccessLog"));
    expect(written.toSorted()).toEqual(ofFunctions.toSorted());
  });

  test("each runs on Node 24 and ARM with the handler of its bundle", () => {
    for (const { Properties } of dev.functions().values())
      expect(Properties).toMatchObject({
        Runtime: "nodejs24.x",
        Architectures: ["arm64"],
        Handler: "index.handler",
      });
  });

  test("settings arrive in the environment that config.ts reads", () => {
    const { Environment } = dev.functions().get("http/account")!.Properties;
    expect(Environment.Variables).toMatchObject({ SIGNUP: "first", DEFAULT_PLAN: "unlimited" });
    const sells = synthesizeStack(dist, { stripeSecret: "pennymail/stripe" });
    expect(sells.functions().get("http/account")!.Properties.Environment.Variables).toMatchObject({
      DEFAULT_PLAN: "free",
    });
    for (const name of ["SYSTEM_SENDER", "EMAIL_VERIFICATION"])
      expect(Environment.Variables).not.toHaveProperty(name);
    const template = synthesizeStack(dist, {
      signup: "open",
      emailVerification: "off",
      defaultPlan: "growth",
      allowedOrigins: "https://a.example",
      systemSender: "postmark:us@example.com",
      systemSenderSecret: "pennymail/sender",
      providerUrls: '{"ses": "https://ses.stand-in.example"}',
    });
    expect(
      template.functions().get("http/account")!.Properties.Environment.Variables,
    ).toMatchObject({
      SIGNUP: "open",
      EMAIL_VERIFICATION: "off",
      DEFAULT_PLAN: "growth",
      ALLOWED_ORIGINS: "https://a.example",
      SYSTEM_SENDER: "postmark:us@example.com",
      PROVIDER_URL_SES: "https://ses.stand-in.example",
    });
  });
});

describe("alarms", () => {
  test("do not exist, and cost no metric, unless the operator sets alarmEmail", () => {
    for (const type of ["AWS::CloudWatch::Alarm", "AWS::Logs::MetricFilter", "AWS::SNS::Topic"])
      expect(dev.findAll(type), type).toEqual([]);
  });

  test("cover errors in all logs, 5xx, old messages, throttles and stopped schedules", () => {
    const logs = watchedStage
      .findAll<{ LogGroupName: unknown }>("AWS::Logs::MetricFilter")
      .map(({ Properties }) => logicalIdOf(Properties.LogGroupName));
    expect(logs).toHaveLength(watchedStage.functions().size);
    expect(watched(watchedStage, "Errors")).toHaveLength(1);
    expect(watched(watchedStage, "5xx")).toHaveLength(1);
    expect(watched(watchedStage, "ApproximateAgeOfOldestMessage").toSorted()).toEqual(
      liveQueues(watchedStage)
        .map(({ id }) => id)
        .toSorted(),
    );
    expect(watched(watchedStage, "Throttles")).toEqual(["the account"]);
    const schedules = [...watchedStage.functions()]
      .filter(([bundle]) => bundle.startsWith("schedule/"))
      .map(([, { id }]) => id);
    expect(watched(watchedStage, "Invocations").toSorted()).toEqual(schedules.toSorted());
  });

  test("are mailed to the configured address", () => {
    expect(watchedStage.findOne("AWS::SNS::Subscription").Properties).toMatchObject({
      Protocol: "email",
      Endpoint: "ops@example.com",
    });
    const topic = { Ref: watchedStage.findOne("AWS::SNS::Topic").id };
    for (const { id, Properties } of watchedStage.findAll<Alarm>("AWS::CloudWatch::Alarm"))
      expect(Properties.AlarmActions, id).toEqual([topic]);
    expect(watchedStage.findOne("AWS::SNS::TopicPolicy").Properties).toMatchObject({
      PolicyDocument: {
        Statement: expect.arrayContaining([
          expect.objectContaining({
            Effect: "Allow",
            Action: "sns:Publish",
            Principal: { Service: "cloudwatch.amazonaws.com" },
          }),
        ]),
      },
    });
  });
});

test("shows mail, queues, dead letters, durations and the table on the dashboard", () => {
  const { Properties } = dev.findOne<{ DashboardBody: unknown }>("AWS::CloudWatch::Dashboard");
  const body = referenceText(Properties.DashboardBody);
  for (const metric of [
    "provider call",
    "ApproximateAgeOfOldestMessage",
    "ApproximateNumberOfMessagesVisible",
    "5xx",
    "pct(milliseconds, 95)",
    "ConsumedWriteCapacityUnits",
  ])
    expect(body).toContain(metric);
});

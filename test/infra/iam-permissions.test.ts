import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { type BundleUsage, scanBundle } from "../../infra/aws/bundle-usage.ts";
import { lazyFileName } from "../../infra/aws/esbuild-plugins.ts";
import type {} from "../support/setup/bundles.ts";
import {
  createEmptyBundles,
  type IamStatement,
  type SynthesizedStack,
  serviceTables,
  synthesizeStack,
} from "../support/synthesized-stack.ts";

const dist = inject("dist");
const secret = "pennymail/sender";
let service: SynthesizedStack;
let bundles: string[];
beforeAll(() => {
  service = synthesizeStack(dist, {
    systemSender: "postmark:us@example.com",
    systemSenderSecret: secret,
  });
  bundles = [...service.functions().keys()];
});

/**
 * The adapters of which a bundle contains more than a few bytes, according to esbuild. The
 * permissions are derived in another way.
 */
function adaptersIn(bundle: string): string[] {
  const output = outputsIn("meta.json").find(
    ({ entryPoint }) => entryPoint === `functions/${bundle}.ts`,
  )!;
  const isLate = ({ entryPoint = "" }: Output) =>
    output.imports.some(({ path }) => path === `./${lazyFileName(entryPoint)}`);
  return [output, ...outputsIn("late.json").filter(isLate)].flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 10 ? (/^shared\/adapters\/(\w+)\//.exec(path)?.[1] ?? []) : [],
    ),
  );
}
const outputsIn = (file: string): Output[] =>
  Object.values(
    (JSON.parse(readFileSync(join(dist, file), "utf8")) as { outputs: Record<string, Output> })
      .outputs,
  );
interface Output {
  entryPoint?: string;
  imports: { path: string }[];
  inputs: Record<string, { bytesInOutput: number }>;
}

const servicesOf = (rights: IamStatement[]) =>
  new Set(rights.flatMap(({ actions }) => actions.map((action) => action.split(":")[0]!)));
const behind: Record<string, string[]> = {
  dynamodb: ["dynamodb"],
  sqs: ["sqs"],
  s3: ["s3"],
  kms: ["kms", "secretsmanager"],
};

describe("permissions", () => {
  test("a function that does not import an adapter has no permission for its service", () => {
    for (const bundle of bundles) {
      const adapters = adaptersIn(bundle);
      const rights = service
        .permissionsOf(bundle)
        .filter(({ actions }) => !actions.includes("sqs:ReceiveMessage"));
      for (const [adapter, services] of Object.entries(behind))
        if (!adapters.includes(adapter))
          expect(
            services.filter((name) => servicesOf(rights).has(name)),
            `${bundle} without ${adapter}`,
          ).toEqual([]);
    }
  });

  test("a function that enqueues messages has the permission and the queue URL", () => {
    const account = service
      .permissionsOf("http/account")
      .find(({ actions }) => actions.includes("sqs:SendMessage"));
    expect(account).toMatchObject({
      actions: ["sqs:SendMessage"],
      resources: [expect.stringMatching(/system-?mail.*\.Arn$/)],
    });
    expect(
      service.functions().get("http/account")?.Properties.Environment.Variables,
    ).toHaveProperty("QUEUE_URL_SYSTEM_MAIL");
  });

  test("a function has the name of the table, bucket or key exactly if it has a permission for it", () => {
    const environment = {
      dynamodb: "TABLE_NAME",
      s3: "BUCKET_NAME",
      kms: "KMS_KEY_ID",
      secretsmanager: "SYSTEM_SENDER_SECRET",
    };
    for (const bundle of bundles) {
      const services = servicesOf(service.permissionsOf(bundle));
      const known = service.functions().get(bundle)!.Properties.Environment.Variables;
      for (const [name, setting] of Object.entries(environment))
        expect(setting in known, `${bundle} ${setting}`).toBe(services.has(name));
    }
  });

  test("no function may scan the table", () => {
    for (const bundle of bundles)
      expect(
        service
          .permissionsOf(bundle)
          .flatMap(({ actions }) => actions)
          .filter((action) => /scan|select/i.test(action)),
        bundle,
      ).toEqual([]);
  });

  test("only objects of the bucket and the secret's suffix have a wildcard, and no action", () => {
    const all = bundles.flatMap((bundle) => service.permissionsOf(bundle));
    expect(all.flatMap(({ actions }) => actions).filter((action) => action.includes("*"))).toEqual(
      [],
    );
    const wild = new Set(
      all.flatMap(({ resources }) => resources).filter((resource) => /[*?]/.test(resource)),
    );
    for (const resource of wild)
      expect(resource).toMatch(/^StoreBucket\w+\.Arn\/\*$|:secret:pennymail\/sender-\?{6}$/);
    expect(service.findAll("AWS::IAM::ManagedPolicy")).toEqual([]);
    for (const { Properties } of service.findAll<object>("AWS::IAM::Role"))
      expect(Properties).not.toHaveProperty("ManagedPolicyArns");
  });

  test("only functions that read secrets may read the operator's secret", () => {
    const reach: Record<string, BundleUsage> = JSON.parse(
      readFileSync(join(dist, "reach.json"), "utf8"),
    );
    const allowed = bundles.filter((bundle) =>
      servicesOf(service.permissionsOf(bundle)).has("secretsmanager"),
    );
    expect(allowed).toEqual(
      bundles.filter((bundle) => reach[bundle]?.commands.includes("GetSecretValue")),
    );
    expect(allowed).toContain("queue/system-mail");
    const without = synthesizeStack(dist);
    for (const bundle of bundles)
      expect(servicesOf(without.permissionsOf(bundle)).has("secretsmanager"), bundle).toBe(false);
  });

  test("only functions that query an index may query it", () => {
    const readers = (index: string) =>
      bundles.filter((bundle) =>
        service
          .permissionsOf(bundle)
          .some(({ resources }) => resources.some((name) => name.endsWith(`/index/${index}`))),
      );
    expect(readers("due")).toContain("queue/drain");
    expect(readers("due")).not.toContain("http/account");
    for (const bundle of bundles)
      for (const { actions, resources } of service.permissionsOf(bundle))
        if (resources.some((name) => name.includes("/index/")))
          expect(actions).toEqual(["dynamodb:Query"]);
  });

  test("an AWS call without a listed permission fails the synthesis", () => {
    const scanning = createEmptyBundles(
      serviceTables,
      { commands: ["Get", "Scan"], statements: [], queues: [], indexes: [] },
      dist,
    );
    expect(() => synthesizeStack(scanning)).toThrow(
      "calls Scan, but infra/aws/grants.ts lists no permissions for it",
    );
  });
});

describe("bundle usage", () => {
  test("lists what the code calls, enqueues and reads, once each", () => {
    const code = `
      await dynamo().send(new GetCommand({})); await dynamo().send(new GetCommand({}));
      await enqueue(queues2.systemMail, []);
      await query(indexes.due("SEND", 0));`;
    expect(scanBundle(code)).toEqual({
      commands: ["Get"],
      statements: [],
      queues: ["systemMail"],
      indexes: ["due"],
    });
  });

  test("ignores unused imports and file names", () => {
    const code = `
      
      // shared/queues.ts
      // shared/new ScanCommand(
      var queues = { send: queue("send") };`;
    expect(scanBundle(code)).toEqual({ commands: [], statements: [], queues: [], indexes: [] });
  });

  test("distinguishes enqueueing from handling", () => {
    expect(
      scanBundle("handleEach(queues.drain, work); handleBatch2(queues3.lane, work)").queues,
    ).toEqual([]);
    expect(scanBundle("enqueue(queues.drain, [])").queues).toEqual(["drain"]);
  });

  test("distinguishes reading an index from adding items to it", () => {
    expect(
      scanBundle('put(at, { ...indexAttributes(indexes.due("SEND", 1), time) })').indexes,
    ).toEqual([]);
    expect(scanBundle('query(indexes.due("SEND", 1))').indexes).toEqual(["due"]);
  });

  test("finds PartiQL by its verbs and ignores routes", () => {
    const code = 'const s = `INSERT INTO "$' + '{config.table}" VALUE ?`; route("DELETE /x/:id")';
    expect(scanBundle(code).statements).toEqual(["INSERT"]);
  });
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { lateFile } from "../../infra/aws/bundling.ts";
import { type Reach, reachOf } from "../../infra/aws/reach.ts";
import type {} from "../support/built.ts";
import { bundlesOf, type Service, type Statement, synthesized, tables } from "../support/template.ts";

const dist = inject("dist");
const secret = "pennymail/sender";
let service: Service;
let bundles: string[];
beforeAll(() => {
  service = synthesized(dist, { systemSender: "postmark:us@example.com", systemSenderSecret: secret });
  bundles = [...service.functions().keys()];
});

/** The doors that are in a bundle, as esbuild counts their bytes (a few are left of what it took out): found in another way than the grants were. */
function doorsIn(bundle: string): string[] {
  const output = outputsIn("meta.json").find(({ entryPoint }) => entryPoint === `functions/${bundle}.ts`)!;
  const isLate = ({ entryPoint = "" }: Output) => output.imports.some(({ path }) => path === `./${lateFile(entryPoint)}`);
  return [output, ...outputsIn("late.json").filter(isLate)].flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 10 ? (/^shared\/doors\/(\w+)(?:\/\w+)?\.ts$/.exec(path)?.[1] ?? []) : [],
    ),
  );
}
const outputsIn = (file: string): Output[] =>
  Object.values((JSON.parse(readFileSync(join(dist, file), "utf8")) as { outputs: Record<string, Output> }).outputs);
interface Output {
  entryPoint?: string;
  imports: { path: string }[];
  inputs: Record<string, { bytesInOutput: number }>;
}

const servicesOf = (rights: Statement[]) => new Set(rights.flatMap(({ actions }) => actions.map((action) => action.split(":")[0]!)));
const behind: Record<string, string[]> = { table: ["dynamodb"], queue: ["sqs"], blobs: ["s3"], vault: ["kms", "secretsmanager"] };

describe("rights", () => {
  test("a function that does not import a door has no right behind it", () => {
    for (const bundle of bundles) {
      const doors = doorsIn(bundle);
      const rights = service.rightsOf(bundle).filter(({ actions }) => !actions.includes("sqs:ReceiveMessage"));
      for (const [door, services] of Object.entries(behind))
        if (!doors.includes(door))
          expect(
            services.filter((name) => servicesOf(rights).has(name)),
            `${bundle} without ${door}`,
          ).toEqual([]);
    }
  });

  test("a function that sends may do so, and knows where to", () => {
    const account = service.rightsOf("http/account").find(({ actions }) => actions.includes("sqs:SendMessage"));
    expect(account).toMatchObject({ actions: ["sqs:SendMessage"], resources: [expect.stringMatching(/system-?mail.*\.Arn$/)] });
    expect(service.functions().get("http/account")?.Properties.Environment.Variables).toHaveProperty("QUEUE_URL_SYSTEM_MAIL");
  });

  test("a function knows of the table, the bucket and the key when it has a right to them, and else does not", () => {
    const told = { dynamodb: "TABLE_NAME", s3: "BUCKET_NAME", kms: "KMS_KEY_ID", secretsmanager: "SYSTEM_SENDER_SECRET" };
    for (const bundle of bundles) {
      const services = servicesOf(service.rightsOf(bundle));
      const known = service.functions().get(bundle)!.Properties.Environment.Variables;
      for (const [name, setting] of Object.entries(told)) expect(setting in known, `${bundle} ${setting}`).toBe(services.has(name));
    }
  });

  test("nobody may scan", () => {
    for (const bundle of bundles)
      expect(
        service
          .rightsOf(bundle)
          .flatMap(({ actions }) => actions)
          .filter((action) => /scan|select/i.test(action)),
        bundle,
      ).toEqual([]);
  });

  test("no action is a wildcard; the only wildcards in resources are the objects of the bucket and the tail of the secret's name", () => {
    const all = bundles.flatMap((bundle) => service.rightsOf(bundle));
    expect(all.flatMap(({ actions }) => actions).filter((action) => action.includes("*"))).toEqual([]);
    const wild = new Set(all.flatMap(({ resources }) => resources).filter((resource) => /[*?]/.test(resource)));
    for (const resource of wild) expect(resource).toMatch(/^StoreBucket\w+\.Arn\/\*$|:secret:pennymail\/sender-\?{6}$/);
    expect(service.all("AWS::IAM::ManagedPolicy")).toEqual([]);
    for (const { Properties } of service.all<object>("AWS::IAM::Role")) expect(Properties).not.toHaveProperty("ManagedPolicyArns");
  });

  test("the operator's secret is open to those alone who can ask for one", () => {
    const reach: Record<string, Reach> = JSON.parse(readFileSync(join(dist, "reach.json"), "utf8"));
    const allowed = bundles.filter((bundle) => servicesOf(service.rightsOf(bundle)).has("secretsmanager"));
    expect(allowed).toEqual(bundles.filter((bundle) => reach[bundle]?.commands.includes("GetSecretValue")));
    expect(allowed).toContain("queue/system-mail");
    const without = synthesized(dist);
    for (const bundle of bundles) expect(servicesOf(without.rightsOf(bundle)).has("secretsmanager"), bundle).toBe(false);
  });

  test("an index is open to those alone who read from it", () => {
    const readers = (index: string) =>
      bundles.filter((bundle) =>
        service.rightsOf(bundle).some(({ resources }) => resources.some((name) => name.endsWith(`/index/${index}`))),
      );
    expect(readers("due")).toContain("queue/drain");
    expect(readers("due")).not.toContain("http/account");
    for (const bundle of bundles)
      for (const { actions, resources } of service.rightsOf(bundle))
        if (resources.some((name) => name.includes("/index/"))) expect(actions).toEqual(["dynamodb:Query"]);
  });

  test("a call that nobody thought about stops the synthesis", () => {
    const scanning = bundlesOf(tables, { commands: ["Get", "Scan"], statements: [], queues: [], shelves: [] }, dist);
    expect(() => synthesized(scanning)).toThrow("calls Scan, and infra/aws/grants.ts does not say what that needs");
  });
});

describe("reach", () => {
  test("is what the code calls, sends to and reads, once each", () => {
    const code = `
      await dynamo().send(new GetCommand({})); await dynamo().send(new GetCommand({}));
      await enqueue(queues2.systemMail, []);
      await query(shelves.due("SEND", 0));`;
    expect(reachOf(code)).toEqual({ commands: ["Get"], statements: [], queues: ["systemMail"], shelves: ["due"] });
  });

  test("is not what is imported and left unused, nor the name of a file", () => {
    const code = `
      import { ScanCommand } from "@aws-sdk/lib-dynamodb";
      // shared/queues.ts
      // shared/new ScanCommand(
      var queues = { send: queue("send") };`;
    expect(reachOf(code)).toEqual({ commands: [], statements: [], queues: [], shelves: [] });
  });

  test("tells sending to a queue and taking from it apart", () => {
    expect(reachOf("consume(queues.drain, work); consumeBatch2(queues3.lane, work)").queues).toEqual([]);
    expect(reachOf("enqueue(queues.drain, [])").queues).toEqual(["drain"]);
  });

  test("tells reading from a shelf and putting on it apart", () => {
    expect(reachOf('put(at, { ...on(shelves.due("SEND", 1), time) })').shelves).toEqual([]);
    expect(reachOf('query(shelves.due("SEND", 1))').shelves).toEqual(["due"]);
  });

  test("knows PartiQL by its verbs, and a route is none", () => {
    const code = 'const s = `INSERT INTO "$' + '{config.table}" VALUE ?`; route("DELETE /x/:id")';
    expect(reachOf(code).statements).toEqual(["INSERT"]);
  });
});

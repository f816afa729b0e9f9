// The CloudFormation templates of the service as one list of resources, in which the parameters and outputs of the nested stacks
// are replaced by what they stand for.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { App, type CfnStack, NestedStack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { CURRENTLY_RECOMMENDED_FLAGS } from "aws-cdk-lib/cx-api";
import { groups } from "../../functions/http/index.ts";
import { workers } from "../../functions/queue/index.ts";
import { ticks } from "../../functions/schedule/index.ts";
import { settingsFrom } from "../../infra/aws/settings.ts";
import { Pennymail, type Tables } from "../../infra/aws/stack.ts";
import { queues } from "../../shared/queues.ts";

export interface Resource<P> {
  id: string;
  Type: string;
  Properties: P;
  DeletionPolicy?: string;
}
export interface Statement {
  Effect: "Allow" | "Deny";
  actions: string[];
  resources: string[];
}
export interface FunctionProperties {
  Description: string;
  Environment: { Variables: Record<string, unknown> };
  Role: unknown;
  Timeout: number;
}

export const tables: Tables = { groups, queues, workers, ticks };

/** `context` is what `-c name=value` would say. */
export function synthesized(dist: string, context: Record<string, string> = {}, of: Tables = tables) {
  process.env.CDK_VALIDATION = "false";
  const app = new App({
    outdir: mkdtempSync(join(dist, "cdk-")),
    context: { ...CURRENTLY_RECOMMENDED_FLAGS, "aws:cdk:disable-asset-staging": true },
  });
  const stack = new Pennymail(
    app,
    of,
    settingsFrom((name) => context[name]),
    dist,
  );
  const root = Template.fromStack(stack).toJSON();
  const nested = new Map(
    stack.node
      .findAll()
      .filter((node): node is NestedStack => NestedStack.isNestedStack(node))
      .map((inner) => [stack.getLogicalId(inner.nestedStackResource as CfnStack), Template.fromStack(inner).toJSON()]),
  );
  /** As it reads in the root, or in one of the nested stacks. */
  const resolved = (value: unknown, within?: string): unknown =>
    replaced(value, ({ Ref, "Fn::GetAtt": [id = "", name = ""] = [] }) => {
      const given = within && Ref ? root.Resources[within].Properties.Parameters?.[Ref] : undefined;
      if (given !== undefined) return resolved(given);
      const output = nested.get(id)?.Outputs?.[name.replace(/^Outputs\./, "")];
      return output && resolved(output.Value, id);
    });
  const everything = [
    ...resourcesOf(resolved(root) as typeof root),
    ...[...nested].flatMap(([id, template]) => resourcesOf(resolved(template, id) as typeof root)),
  ];
  return new Service(
    everything,
    [root, ...nested.values()].map((template) => resourcesOf(template).length),
    root.Outputs,
  );
}

/** Bundles without code, each with this reach, in a folder `within` another. */
export function bundlesOf({ groups, workers, ticks }: Tables, reach: object, within: string): string {
  const dist = mkdtempSync(join(within, "empty-"));
  const bundles = [
    "http/fallback",
    ...groups.map(({ name }) => `http/${name}`),
    ...workers.map(({ queue }) => `queue/${queue.name}`),
    ...ticks.map(({ name }) => `schedule/${name}`),
  ];
  for (const bundle of bundles) mkdirSync(join(dist, bundle), { recursive: true });
  writeFileSync(join(dist, "reach.json"), JSON.stringify(Object.fromEntries(bundles.map((bundle) => [bundle, reach]))));
  return dist;
}

const resourcesOf = (template: { Resources?: object }) =>
  Object.entries(template.Resources ?? {}).map(([id, resource]) => ({ id, ...resource }) as Resource<object>);

interface Reference {
  Ref?: string;
  "Fn::GetAtt"?: string[];
}

/** A reference, wherever it is, gives way to what it is known to stand for. */
function replaced(value: unknown, known: (reference: Reference) => unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => replaced(each, known));
  return known(value) ?? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaced(each, known)]));
}

export class Service {
  private readonly everything: Resource<object>[];
  /** How many resources each stack has. */
  readonly sizes: number[];
  readonly outputs: Record<string, { Value: unknown }>;

  constructor(everything: Resource<object>[], sizes: Service["sizes"], outputs: Service["outputs"]) {
    this.everything = everything;
    this.sizes = sizes;
    this.outputs = outputs;
  }

  all<P>(type: string): Resource<P>[] {
    return this.everything.filter(({ Type }) => Type === type) as Resource<P>[];
  }

  one<P>(type: string): Resource<P> {
    const found = this.all<P>(type);
    if (found.length !== 1) throw new Error(`There are ${found.length} of ${type}`);
    return found[0]!;
  }

  /** By bundle: `http/account`. */
  functions(): Map<string, Resource<FunctionProperties>> {
    const found = this.all<FunctionProperties>("AWS::Lambda::Function");
    return new Map(found.map((fn) => [fn.Properties.Description.split(": ")[1]!, fn]));
  }

  /** What the function's role may do; a resource is told as text such as `StoreTable.Arn/index/due`. */
  rightsOf(bundle: string): Statement[] {
    const role = idIn(this.functions().get(bundle)!.Properties.Role);
    return this.all<{ Roles: { Ref: string }[]; PolicyDocument: { Statement: Record<string, unknown>[] } }>("AWS::IAM::Policy")
      .filter(({ Properties }) => Properties.Roles.some(({ Ref }) => Ref === role))
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
      .map(({ Effect, Action, Resource }) => ({
        Effect: Effect as "Allow",
        actions: [Action].flat() as string[],
        resources: [Resource].flat().map(asText),
      }));
  }
}

/** The logical id that a `Ref` or `Fn::GetAtt` names. */
export const idIn = (reference: unknown): string | undefined => asText(reference).split(".")[0];

export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  const {
    Ref,
    "Fn::GetAtt": attribute,
    "Fn::Join": join,
  } = value as { Ref?: string; "Fn::GetAtt"?: string[]; "Fn::Join"?: [string, unknown[]] };
  if (join) return join[1].map(asText).join(join[0]);
  return Ref ?? attribute!.join(".");
}

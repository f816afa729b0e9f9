import { join } from "node:path";
import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  Function as Lambda,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { grant } from "./grants.ts";
import type { Reach } from "./reach.ts";
import type { Settings } from "./settings.ts";
import type { Store } from "./store.ts";

/** What every function needs to know of the rest. */
export interface House {
  settings: Settings;
  store: Store;
  /** Folder that build.ts has filled. */
  dist: string;
  /** By bundle: `http/account`. */
  reach: Record<string, Reach>;
  /** Where callers reach us. */
  publicUrl: string;
}

interface Traits {
  timeoutSeconds: number;
  /** 1,769 is one whole processor; less is a share of one. */
  memoryMegabytes: number;
  /** It may be the cause of its own next call, again and again; AWS stops others after 16 rounds. */
  recurring?: true;
}

/** One entry point: its bundle, its logs, and a role that may do what the bundle can. */
export function lambda(scope: Construct, bundle: string, house: House, { timeoutSeconds, memoryMegabytes, recurring }: Traits): Lambda {
  const id = bundle.replace("/", "-");
  const reach = house.reach[bundle];
  if (!reach) throw new Error(`There is no bundle ${bundle} in ${house.dist}: npm run build`);
  const logGroup = new LogGroup(scope, `${id}-logs`, { retention: RetentionDays.ONE_MONTH, removalPolicy: RemovalPolicy.DESTROY });
  // The role CDK would make may write to every log group of the account.
  const role = new Role(scope, `${id}-role`, { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
  logGroup.grantWrite(role);
  const fn = new Lambda(scope, id, {
    description: `Pennymail ${house.settings.stage}: ${bundle}`,
    code: Code.fromAsset(join(house.dist, bundle)),
    handler: "index.handler",
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    memorySize: memoryMegabytes,
    timeout: Duration.seconds(timeoutSeconds),
    role,
    logGroup,
    loggingFormat: LoggingFormat.JSON,
    applicationLogLevelV2: ApplicationLogLevel.INFO,
    systemLogLevelV2: SystemLogLevel.WARN,
    ...(recurring && { recursiveLoop: RecursiveLoop.ALLOW }),
    environment: { ...environment(house), ...ownEnvironment[bundle]?.(house) },
  });
  grant(fn, reach, house);
  return fn;
}

/** What one function alone has to know. */
const ownEnvironment: Record<string, (house: House) => Record<string, string>> = {
  "http/stock-photos": ({ settings: { pexelsApiKey } }) => (pexelsApiKey ? { PEXELS_API_KEY: pexelsApiKey } : {}),
};

function environment({ settings, publicUrl }: House): Record<string, string> {
  const { signup, defaultPlan, allowedOrigins, systemSender, brandingUrl } = settings;
  return {
    PUBLIC_URL: publicUrl,
    SIGNUP: signup,
    DEFAULT_PLAN: defaultPlan,
    ...(allowedOrigins && { ALLOWED_ORIGINS: allowedOrigins }),
    ...(systemSender && { SYSTEM_SENDER: systemSender }),
    ...(brandingUrl && { BRANDING_URL: brandingUrl }),
  };
}

// The clients of KMS and Secrets Manager, with the operations that we use. Bytes are base64, as in
// the JSON of these services.
import { AwsJsonClient, AwsJsonCommand } from "../aws/json-client.ts";

export class KmsClient extends AwsJsonClient {
  protected readonly service = {
    name: "kms",
    targetPrefix: "TrentService",
    contentType: "application/x-amz-json-1.1",
  } as const;
}

interface KeyInput {
  KeyId: string;
  EncryptionContext: Record<string, string>;
}

export class EncryptCommand extends AwsJsonCommand<
  KeyInput & { Plaintext: string },
  { CiphertextBlob: string }
> {
  readonly operation = "Encrypt";
}
export class DecryptCommand extends AwsJsonCommand<
  KeyInput & { CiphertextBlob: string },
  { Plaintext: string }
> {
  readonly operation = "Decrypt";
}
export class GenerateDataKeyCommand extends AwsJsonCommand<
  KeyInput & { KeySpec: "AES_256" },
  { Plaintext: string; CiphertextBlob: string }
> {
  readonly operation = "GenerateDataKey";
}

export class SecretsManagerClient extends AwsJsonClient {
  protected readonly service = {
    name: "secrets-manager",
    targetPrefix: "secretsmanager",
    contentType: "application/x-amz-json-1.1",
  } as const;
}
export class GetSecretValueCommand extends AwsJsonCommand<
  { SecretId: string },
  { SecretString?: string }
> {
  readonly operation = "GetSecretValue";
}

import { ActionIcon, Input } from "@mantine/core";
import { IconUserPlus } from "@tabler/icons-react";
import { lazy, Suspense, useId, useRef } from "react";
import type { FieldTextHandle } from "../editors/field-text.tsx";
import { t } from "../language/translate.ts";
import { EmojiMenu } from "./emoji-menu.tsx";
import { InsertMenu, type InsertOption } from "./insert-menu.tsx";

const FieldText = lazy(async () => ({
  default: (await import("../editors/field-text.tsx")).FieldText,
}));

export interface FieldInputProps {
  label: string;
  description?: string;
  isRequired?: boolean;
  isReadOnly?: boolean;
  /** Characters, with the code of fields. */
  maxLength: number;
  /** Path of the field in the API, for messages about it. */
  dataField?: string;
  /** Shown while the text is empty. */
  placeholder?: string;
  dir?: "ltr" | "rtl";
  value: string;
  insertOptions: Record<string, InsertOption[]>;
  onChange(value: string): void;
}

/** An input for a line of an email, such as its subject, with fields as chips and emoji. */
export function FieldInput(props: FieldInputProps) {
  const { label, description, isRequired = false, isReadOnly = false, ...rest } = props;
  const { value, insertOptions } = rest;
  const id = useId();
  const text = useRef<FieldTextHandle>(null);
  const insert = (inserted: string) => text.current?.insert(inserted);
  return (
    <Input.Wrapper
      label={label}
      description={description}
      required={isRequired}
      labelElement="div"
      labelProps={{ id }}
    >
      <div className={isReadOnly ? "field-input is-read-only" : "field-input"}>
        <Suspense fallback={<div className="field-text">{value}</div>}>
          <FieldText
            {...rest}
            labelledBy={id}
            isRequired={isRequired}
            isReadOnly={isReadOnly}
            handle={text}
          />
        </Suspense>
        {!isReadOnly && (
          <>
            <EmojiMenu label={t("Insert an emoji: {label}", { label })} onInsert={insert} />
            <InsertMenu options={insertOptions} onInsert={insert}>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t("Insert a field: {label}", { label })}
                title={t("Insert a field")}
              >
                <IconUserPlus size={16} />
              </ActionIcon>
            </InsertMenu>
          </>
        )}
      </div>
    </Input.Wrapper>
  );
}

import { Button, Skeleton } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { lazy, Suspense, useRef } from "react";
import type { CodeEditorHandle } from "../../editors/code-editor.tsx";
import { t } from "../../language/translate.ts";
import { InsertMenu, type InsertOption } from "../../parts/insert-menu.tsx";

const CodeEditor = lazy(async () => ({
  default: (await import("../../editors/code-editor.tsx")).CodeEditor,
}));

interface SourceProps {
  label: string;
  language: "html" | "text";
  value: string;
  insertOptions: Record<string, InsertOption[]>;
  isReadOnly: boolean;
  onChange(value: string): void;
}

/** The code of a part of the email. */
export function Source({ insertOptions, ...props }: SourceProps) {
  const editor = useRef<CodeEditorHandle>(null);
  return (
    <div className="stack">
      {!props.isReadOnly && (
        <InsertMenu options={insertOptions} onInsert={(text) => editor.current?.insert(text)}>
          <Button
            className="start"
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
          >
            {t("Insert a field")}
          </Button>
        </InsertMenu>
      )}
      <Suspense fallback={<Skeleton h={560} />}>
        <CodeEditor {...props} handle={editor} />
      </Suspense>
    </div>
  );
}

interface PlainTextProps {
  /** Null: made from the HTML when the email is sent. */
  text: string | null;
  insertOptions: Record<string, InsertOption[]>;
  isReadOnly: boolean;
  onChange(text: string | null): void;
}

/** The plain text of the email. */
export function PlainText({ text, onChange, ...props }: PlainTextProps) {
  return (
    <div className="stack">
      <p className="quiet">
        {text === null
          ? t("It is made from the HTML when the email is sent.")
          : t("This text is sent as it is. Empty it to have it made from the HTML.")}
      </p>
      <Source
        label={t("Plain text")}
        language="text"
        value={text ?? ""}
        onChange={(value) => onChange(value || null)}
        {...props}
      />
    </div>
  );
}

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { send } from "../api/client";
import { tasksQuery } from "../api/queries";
import type { Scalar, RunStarted, TaskRow } from "../api/types";
import { Dialog, Field } from "../ui/dialog";
import { Button } from "../ui/components";
import { UntrustedText } from "../ui/untrusted-text";
import { ErrorNotice } from "../ui/error-notice";
import { parseScalar } from "./scalar";

/** Starts a run of one of the server's tasks, with inputs. */
export function StartDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const tasks = useQuery({ ...tasksQuery(), enabled: open });
  const known = tasks.data ?? [];
  const [name, setName] = useState("");
  const task = known.find((candidate) => candidate.name === name) ?? known.find((candidate) => !candidate.problem) ?? known[0];
  return (
    <Dialog open={open} onClose={onClose} title="Start a run" description="Choose one of the tasks of this server.">
      <ErrorNotice error={tasks.error} />
      {task && (
        <div className="space-y-4">
          <Field label="Task">
            {(className) => (
              <select autoFocus className={className} value={task.name} onChange={(event) => setName(event.target.value)}>
                {known.map((option) => (
                  <option key={option.name} value={option.name}>
                    {option.problem ? `${option.name} (cannot be started)` : option.name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          {task.problem ? (
            <p className="text-sm text-bad">
              The file of this task has to be corrected first: <UntrustedText text={task.problem} />
            </p>
          ) : (
            <Inputs key={task.name} task={task} onClose={onClose} />
          )}
        </div>
      )}
      {tasks.data && !known.length && <p className="text-sm text-soft">This server has no tasks.</p>}
    </Dialog>
  );
}

function Inputs({ task, onClose }: { task: TaskRow; onClose: () => void }) {
  const [inputs, setInputs] = useState<Record<string, Scalar>>(task.inputs);
  // One idempotency key per form: if the button is pressed twice or the request is repeated, only one run starts.
  const [key] = useState(() => crypto.randomUUID());
  const navigate = useNavigate();
  const client = useQueryClient();
  const start = useMutation({
    mutationFn: () => send<RunStarted>("POST", "runs", { task: task.name, inputs }, { "Idempotency-Key": key }),
    onSuccess: ({ run }) => {
      void client.invalidateQueries({ queryKey: ["runs"] });
      onClose();
      void navigate({ to: "/runs/$run", params: { run }, search: {} });
    },
  });
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate();
      }}
    >
      <p className="rounded-lg bg-sunken px-3 py-2 text-sm">
        <UntrustedText text={task.goal} />
      </p>
      {Object.entries(inputs).map(([input, value]) => (
        <Field key={input} label={input}>
          {(className) => (
            <input
              className={className}
              value={value === null ? "" : String(value)}
              onChange={(event) => setInputs({ ...inputs, [input]: parseScalar(event.target.value, task.inputs[input]) })}
            />
          )}
        </Field>
      ))}
      <ErrorNotice error={start.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit" disabled={start.isPending}>
          Start
        </Button>
      </div>
    </form>
  );
}

// The two kinds of KServe that deploy/kserve/ uses, written by hand: no package has them. Only the fields that are of use
// to a runtime like ours; a field that is not here is refused, so that a misspelt one is.
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';

interface Metadata {
  name: string;
  namespace?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

type Protocol = 'v1' | 'v2' | 'grpc-v1' | 'grpc-v2';

export interface IClusterServingRuntime {
  apiVersion: 'serving.kserve.io/v1alpha1';
  kind: 'ClusterServingRuntime';
  metadata: Metadata;
  spec: {
    supportedModelFormats: { name: string; version?: string; autoSelect?: boolean; priority?: number }[];
    protocolVersions: Protocol[];
    multiModel?: boolean;
    disabled?: boolean;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    containers: [IContainer & { name: 'kserve-container' }, ...IContainer[]];
  } & Pick<IPodSpec, 'volumes' | 'nodeSelector' | 'affinity' | 'tolerations' | 'imagePullSecrets'>;
}

export interface IInferenceService {
  apiVersion: 'serving.kserve.io/v1beta1';
  kind: 'InferenceService';
  metadata: Metadata;
  spec: {
    predictor: {
      minReplicas?: number;
      maxReplicas?: number;
      scaleTarget?: number;
      scaleMetric?: 'cpu' | 'memory' | 'concurrency' | 'rps';
      timeout?: number;
      labels?: Record<string, string>;
      annotations?: Record<string, string>;
      model: {
        modelFormat: { name: string; version?: string };
        runtime?: string;
        protocolVersion?: Protocol;
        storageUri?: string;
      } & Partial<IContainer>;
    } & Partial<Omit<IPodSpec, 'containers'>>;
  };
}

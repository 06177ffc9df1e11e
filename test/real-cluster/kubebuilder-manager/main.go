// A manager as kubebuilder makes them: leader election, a typed cache, a cache of metadata alone, writes and events.
// It mirrors sets, or rolls a group of them. It ends after a while, or once the group is rolled: with 0 when it has done
// its work and logged no error, else with 1.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// countingSink counts what is logged as an error before the end, and prints everything.
type countingSink struct {
	logr.LogSink
	errors *atomic.Int64
	end    context.Context
}

func (s countingSink) Error(err error, msg string, keysAndValues ...any) {
	// Whoever is told to stop loses its lease, and says so.
	if s.end.Err() == nil {
		s.errors.Add(1)
	}
	s.LogSink.Error(err, msg, keysAndValues...)
}

func (s countingSink) WithName(name string) logr.LogSink {
	return countingSink{s.LogSink.WithName(name), s.errors, s.end}
}

func (s countingSink) WithValues(keysAndValues ...any) logr.LogSink {
	return countingSink{s.LogSink.WithValues(keysAndValues...), s.errors, s.end}
}

// mirror keeps a ConfigMap beside each StatefulSet that says how many replicas it has.
type mirror struct {
	client.Client
	recorder   events.EventRecorder
	reconciled atomic.Int64
}

func (m *mirror) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var set appsv1.StatefulSet
	if err := m.Get(ctx, request.NamespacedName, &set); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	shown := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: set.Name}}
	result, err := controllerutil.CreateOrUpdate(ctx, m.Client, &shown, func() error {
		shown.Data = map[string]string{"ready": fmt.Sprint(set.Status.ReadyReplicas)}
		return controllerutil.SetControllerReference(&set, &shown, m.Scheme())
	})
	if apierrors.IsConflict(err) {
		// The cache is behind what was written last: it will have caught up in a moment.
		return ctrl.Result{RequeueAfter: 100 * time.Millisecond}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if result != controllerutil.OperationResultNone {
		m.recorder.Eventf(&set, &shown, corev1.EventTypeNormal, "Mirrored", "Mirror", "ConfigMap %s was %s", shown.Name, result)
	}
	if set.Annotations["mirrored"] == "" {
		old := set.DeepCopy()
		metav1.SetMetaDataAnnotation(&set.ObjectMeta, "mirrored", "true")
		if err := m.Patch(ctx, &set, client.MergeFrom(old)); err != nil {
			return ctrl.Result{}, err
		}
	}
	m.reconciled.Add(1)
	return ctrl.Result{}, nil
}

func run() error {
	namespace := flag.String("namespace", "default", "what it looks after")
	duration := flag.Duration("for", time.Minute, "how long it runs")
	group := flag.String("roll-group", "", "the rollout group that it rolls, to end then, instead of mirroring sets")
	flag.Parse()

	ctx, cancel := context.WithTimeout(ctrl.SetupSignalHandler(), *duration)
	defer cancel()
	var errors atomic.Int64
	plain := funcr.New(func(prefix, args string) { fmt.Fprintln(os.Stderr, prefix, args) }, funcr.Options{})
	logger := logr.New(countingSink{plain.GetSink(), &errors, ctx})
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)

	config := ctrl.GetConfigOrDie()
	if *group != "" {
		// As client-go writes unless told otherwise; controller-runtime tells it to write protobuf.
		config.ContentType = "application/json"
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		LeaderElection:                true,
		LeaderElectionID:              "kubebuilder-manager",
		LeaderElectionNamespace:       *namespace,
		LeaderElectionReleaseOnCancel: true,
		Cache:                         cache.Options{DefaultNamespaces: map[string]cache.Config{*namespace: {}}},
		Metrics:                       server.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	work := &mirror{Client: manager.GetClient(), recorder: manager.GetEventRecorder("kubebuilder-manager")}
	rolls := &roller{Client: manager.GetClient(), namespace: *namespace, group: *group, gone: map[types.UID]bool{}}
	isRolled := *group == ""
	rolls.finish = func() {
		isRolled = true
		cancel()
	}
	if *group == "" {
		err = ctrl.NewControllerManagedBy(manager).
			For(&appsv1.StatefulSet{}).
			WatchesMetadata(&corev1.ConfigMap{}, handler.EnqueueRequestForOwner(manager.GetScheme(), manager.GetRESTMapper(), &appsv1.StatefulSet{})).
			Complete(work)
	} else {
		// One key for all of them: a zone may not go on without a look at the others.
		theGroup := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []ctrl.Request {
			return []ctrl.Request{{NamespacedName: types.NamespacedName{Namespace: *namespace, Name: *group}}}
		})
		err = ctrl.NewControllerManagedBy(manager).
			Named("roller").
			Watches(&appsv1.StatefulSet{}, theGroup).
			Watches(&corev1.Pod{}, theGroup).
			Complete(rolls)
	}
	if err != nil {
		return err
	}
	if err := manager.Start(ctx); err != nil {
		return err
	}
	reconciled := work.reconciled.Load() + rolls.reconciled
	fmt.Fprintf(os.Stderr, "reconciled %d times, deleted %d pods, logged %d errors\n", reconciled, len(rolls.gone), errors.Load())
	if reconciled == 0 || errors.Load() > 0 {
		return fmt.Errorf("a manager that works reconciles, and logs no error")
	}
	if !isRolled {
		return fmt.Errorf("rollout group %s was not rolled within %s", *group, *duration)
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

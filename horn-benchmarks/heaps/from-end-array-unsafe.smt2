; struct node { node *next; int data; };
; node *list, *p;
; while (*) { p = malloc(node); p->next = list; list = p; }
; while (list != 0) { list = list->next; }
;
; Property: each access finds an object of the pointer's type.
; Unsafe: the list has no end.
; The heap is an array of objects with a size.
(set-logic HORN)

(define-sort Addr () Int)
(declare-datatypes
  ((HeapObject 0) (node 0))
  (((O_Int (getInt Int)) (O_Addr (getAddr Addr)) (O_node (get_node node)) (defObj))
   ((node (node_next Addr) (node_data Int)))))
(declare-datatypes ((Heap 0)) (((HeapCtor (HeapSize Int) (HeapContents (Array Addr HeapObject))))))
(declare-datatypes ((AllocResHeap 0)) (((AllocResHeap (newHeap Heap) (newAddr Addr)))))
(define-fun nullAddr () Addr 0)
(define-fun emptyHeap () Heap (HeapCtor 0 ((as const (Array Addr HeapObject)) defObj)))
(define-fun valid ((h Heap) (p Addr)) Bool (and (< 0 p) (<= p (HeapSize h))))
(define-fun read ((h Heap) (p Addr)) HeapObject (ite (valid h p) (select (HeapContents h) p) defObj))
(define-fun write ((h Heap) (p Addr) (o HeapObject)) Heap
  (ite (valid h p) (HeapCtor (HeapSize h) (store (HeapContents h) p o)) h))
(define-fun alloc ((h Heap) (o HeapObject)) AllocResHeap
  (AllocResHeap (HeapCtor (+ (HeapSize h) 1) (store (HeapContents h) (+ (HeapSize h) 1) o)) (+ (HeapSize h) 1)))

(declare-fun main_0 (Heap Addr Addr) Bool)
(declare-fun main_1 (Heap Addr Addr) Bool)
(declare-fun main_2 (Heap Addr Addr) Bool)
(declare-fun main_3 (Heap Addr Addr) Bool)
(declare-fun main_4 (Heap Addr Addr) Bool)
(declare-fun main_5 (Heap Addr Addr) Bool)
(declare-fun main_6 (Heap Addr Addr) Bool)
(declare-fun main_7 (Heap Addr Addr) Bool)
(declare-fun main_8 (Heap Addr Addr) Bool)

(assert (forall ((list Addr) (p Addr))
  (main_0 emptyHeap list p)))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (main_0 h list p)
      (main_1 h list p))))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (main_0 h list p)
      (main_2 h list p))))
(assert (forall ((h Heap) (list Addr) (p Addr) (x0 Addr) (x1 Int))
  (=> (main_1 h list p)
      (main_3 (newHeap (alloc h (O_node (node x0 x1)))) list (newAddr (alloc h (O_node (node x0 x1))))))))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (and (main_3 h list p) (not ((_ is O_node) (read h p))))
      false)))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (main_3 h list p)
      (main_4 (write h p (O_node (node list (node_data (get_node (read h p)))))) list p))))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (main_4 h list p)
      (main_5 h p p))))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (main_5 h list p)
      (main_0 h list p))))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (and (main_2 h list p) (distinct list nullAddr))
      (main_6 h list p))))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (and (main_2 h list p) (not (distinct list nullAddr)))
      (main_7 h list p))))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (and (main_6 h list p) (not ((_ is O_node) (read h list))))
      false)))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (main_6 h list p)
      (main_8 h (node_next (get_node (read h list))) p))))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (main_8 h list p)
      (main_2 h list p))))

(check-sat)

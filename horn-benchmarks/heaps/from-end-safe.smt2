; struct node { node *next; int data; };
; node *list, *p;
; list = 0;
; while (*) { p = malloc(node); p->next = list; list = p; }
; while (list != 0) { list = list->next; }
;
; Property: each access finds an object of the pointer's type.
; Safe: each node leads to the one allocated before it, the first one to null.
; The heap is that of the theory of heaps.
(set-logic HORN)

(declare-heap Heap Addr HeapObject defObj
  ((HeapObject 0) (node 0))
  (((O_Int (getInt Int)) (O_Addr (getAddr Addr)) (O_node (get_node node)) (defObj))
   ((node (node_next Addr) (node_data Int)))))

(declare-fun main_0 (Heap Addr Addr) Bool)
(declare-fun main_1 (Heap Addr Addr) Bool)
(declare-fun main_2 (Heap Addr Addr) Bool)
(declare-fun main_3 (Heap Addr Addr) Bool)
(declare-fun main_4 (Heap Addr Addr) Bool)
(declare-fun main_5 (Heap Addr Addr) Bool)
(declare-fun main_6 (Heap Addr Addr) Bool)
(declare-fun main_7 (Heap Addr Addr) Bool)
(declare-fun main_8 (Heap Addr Addr) Bool)
(declare-fun main_9 (Heap Addr Addr) Bool)

(assert (forall ((list Addr) (p Addr))
  (main_0 emptyHeap list p)))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (main_0 h list p)
      (main_1 h nullAddr p))))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (main_1 h list p)
      (main_2 h list p))))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (main_1 h list p)
      (main_3 h list p))))
(assert (forall ((h Heap) (list Addr) (p Addr) (x0 Addr) (x1 Int))
  (=> (main_2 h list p)
      (main_4 (newHeap (alloc h (O_node (node x0 x1)))) list (newAddr (alloc h (O_node (node x0 x1))))))))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (and (main_4 h list p) (not ((_ is O_node) (read h p))))
      false)))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (main_4 h list p)
      (main_5 (write h p (O_node (node list (node_data (get_node (read h p)))))) list p))))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (main_5 h list p)
      (main_6 h p p))))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (main_6 h list p)
      (main_1 h list p))))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (and (main_3 h list p) (distinct list nullAddr))
      (main_7 h list p))))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (and (main_3 h list p) (not (distinct list nullAddr)))
      (main_8 h list p))))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (and (main_7 h list p) (not ((_ is O_node) (read h list))))
      false)))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (main_7 h list p)
      (main_9 h (node_next (get_node (read h list))) p))))
(assert (forall ((h Heap) (list Addr) (p Addr))
  (=> (main_9 h list p)
      (main_3 h list p))))

(check-sat)

// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// An array of structs that grows, and whose elements change.
contract Orders {
    struct Order {
        address buyer;
        uint amount;
        bool paid;
    }

    Order[] orders;

    function place(uint amount) public {
        require(amount > 0);
        uint length = orders.length;
        orders.push(Order(msg.sender, amount, false));
        assert(orders.length == length + 1); // expect: safe
        assert(orders[length].amount > 0); // expect: safe
    }

    function pay(uint index) public {
        require(index < orders.length);
        require(!orders[index].paid);
        orders[index].paid = true;
        assert(orders[index].paid); // expect: safe
        assert(orders[0].paid); // expect: unsafe
    }
}
